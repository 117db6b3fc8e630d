"""Figures of ScholarEval's Tables 9 to 13 as printed: coverage (mean, deviation) of its variants
and of the baselines, and p-values.
"""

from dataclasses import dataclass

Printed = tuple[float, float]


@dataclass(frozen=True)
class Table:
    """`p_values`: one line per variant, one word per baseline, in their order; `<` stands for "much
    below 0.001".
    """

    name: str
    count: int
    variants: dict[str, Printed]
    baselines: dict[str, Printed]
    p_values: tuple[str, ...]

    def rows(self) -> list[tuple[str, str, Printed, Printed, str]]:
        words = [line.split() for line in self.p_values]
        return [
            (variant, baseline, self.variants[variant], self.baselines[baseline], words[i][j])
            for i, variant in enumerate(self.variants)
            for j, baseline in enumerate(self.baselines)
        ]


TABLES: dict[int, Table] = {
    9: Table(
        "Overall",
        1076,
        {
            "Llama": (2.04, 1.16),
            "GPT-4.1": (2.72, 1.47),
            "GPT-5.1": (2.17, 1.27),
            "Claude": (2.77, 1.40),
        },
        {
            "Llama-3.3-70B": (1.83, 0.89),
            "GPT-4.1": (2.18, 1.08),
            "GPT-5.1 Instant": (1.94, 0.98),
            "Claude-4-Sonnet": (2.18, 1.04),
            "GPT-4o-search-preview": (1.90, 0.98),
            "OpenAI Deep Research": (2.28, 1.07),
            "DR Tulu": (2.33, 1.14),
        },
        (
            "< 0.998 0.015 0.998 0.001 1.000 1.000",
            "< < < < < < <",
            "< 0.578 < 0.579 < 0.985 0.999",
            "< < < < < < <",
        ),
    ),
    10: Table(
        "AI",
        425,
        {
            "Llama": (2.06, 1.14),
            "GPT-4.1": (2.84, 1.39),
            "GPT-5.1": (2.31, 1.30),
            "Claude": (2.91, 1.34),
        },
        {
            "Llama-3.3-70B": (1.88, 0.92),
            "GPT-4.1": (2.21, 1.12),
            "GPT-5.1 Instant": (2.09, 0.99),
            "Claude-4-Sonnet": (2.28, 1.02),
            "GPT-4o-search-preview": (1.95, 0.97),
            "OpenAI Deep Research": (2.35, 1.07),
            "DR Tulu": (2.35, 1.11),
        },
        (
            "0.006 0.973 0.659 0.998 0.065 1.000 1.000",
            "< < < < < < <",
            "< 0.115 0.003 0.354 < 0.688 0.685",
            "< < < < < < <",
        ),
    ),
    11: Table(
        "Neuroscience",
        314,
        {
            "Llama": (2.05, 1.18),
            "GPT-4.1": (2.74, 1.55),
            "GPT-5.1": (2.12, 1.24),
            "Claude": (2.55, 1.45),
        },
        {
            "Llama-3.3-70B": (1.82, 0.86),
            "GPT-4.1": (2.18, 1.10),
            "GPT-5.1 Instant": (1.85, 0.99),
            "Claude-4-Sonnet": (2.15, 1.08),
            "GPT-4o-search-preview": (1.84, 0.96),
            "OpenAI Deep Research": (2.25, 1.04),
            "DR Tulu": (2.31, 1.17),
        },
        (
            "0.003 0.923 0.011 0.866 0.007 0.988 0.997",
            "< < < < < < <",
            "< 0.739 0.001 0.627 < 0.922 0.976",
            "< < < < < 0.002 0.011",
        ),
    ),
    12: Table(
        "Biochemistry",
        147,
        {
            "Llama": (2.04, 1.19),
            "GPT-4.1": (2.61, 1.42),
            "GPT-5.1": (1.96, 1.19),
            "Claude": (2.64, 1.40),
        },
        {
            "Llama-3.3-70B": (1.81, 0.90),
            "GPT-4.1": (2.14, 1.04),
            "GPT-5.1 Instant": (1.68, 0.91),
            "Claude-4-Sonnet": (2.01, 1.01),
            "GPT-4o-search-preview": (1.86, 1.00),
            "OpenAI Deep Research": (2.08, 1.06),
            "DR Tulu": (2.24, 1.04),
        },
        (
            "0.031 0.778 0.002 0.408 0.081 0.619 0.937",
            "< < < < < < 0.006",
            "0.112 0.916 0.012 0.651 0.218 0.819 0.984",
            "< < < < < < 0.003",
        ),
    ),
    13: Table(
        "Ecology",
        190,
        {
            "Llama": (1.94, 1.13),
            "GPT-4.1": (2.52, 1.51),
            "GPT-5.1": (2.09, 1.28),
            "Claude": (2.90, 1.39),
        },
        {
            "Llama-3.3-70B": (1.74, 0.87),
            "GPT-4.1": (2.13, 1.00),
            "GPT-5.1 Instant": (1.95, 0.97),
            "Claude-4-Sonnet": (2.11, 1.03),
            "GPT-4o-search-preview": (1.95, 1.02),
            "OpenAI Deep Research": (2.35, 1.11),
            "DR Tulu": (2.39, 1.20),
        },
        (
            "0.027 0.958 0.537 0.937 0.536 1.000 1.000",
            "< 0.002 < 0.001 < 0.106 0.177",
            "< 0.633 0.115 0.567 0.120 0.982 0.991",
            "< < < < < < <",
        ),
    ),
}
