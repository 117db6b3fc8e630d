"""Word lists: function words, abbreviations, and cues of good and bad outcomes."""


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = words_of(
    """
    a about above across after again against all almost along already also although always am among
    an and another any are around as at away be became because become becomes been before behind
    being below between both but by can cannot could did do does doing done down due during each
    either enough especially etc even ever every few first for from further furthermore get gets
    given had has have having he hence her here him his how however i ie if in into is it its itself
    just last least less let like made mainly make makes many may me might more moreover most much
    must my namely near need neither never nevertheless next no nor not now of off often on once one
    only onto or other others otherwise our ours out over overall own particularly per perhaps quite
    rather really same second see seem seems several shall she should show shown shows since so some
    something still such take taken than that the their them themselves then there thereby therefore
    these they third this those though three through throughout thus to together too toward towards
    two under until up upon us use used uses using usually various very via was we well were what
    when where whereas whether which while who whom whose why will with within without would yet you
    your able aim aims based eg et al called consider considered current currently different
    existing following include includes including investigate new novel present presented propose
    proposed provide provides recent recently respectively specific specifically study studies work
    works paper approach approaches plan planned research resulting
    """
)

ABBREVIATIONS = words_of(
    """
    al approx ca cf corp dept dr eds eg eq eqs et fig figs fn ie inc incl jr ltd mr mrs ms nos pp
    prof ref refs resp sect sr suppl tab tabs univ viz vol vs wrt appx i.e e.g a.k.a w.r.t i.i.d u.s
    u.k ph.d
    """
)

NEGATIVE_CUES = (
    r"fail(?:s|ed|ing|ure|ures)?",
    r"degrad\w++",
    r"deteriorat\w++",
    r"worsen\w*+",
    r"worse",
    r"inferior",
    r"underperform\w*+",
    r"limit(?:ed|ation|ations|s)",
    r"unreliabl\w++",
    r"unstable",
    r"instabilit\w++",
    r"brittle",
    r"suffer(?:s|ed|ing)?",
    r"struggl\w++",
    r"collaps\w++",
    r"bias(?:ed|es)",
    r"overfit\w*+",
    r"insufficient\w*+",
    r"ineffective\w*+",
    r"inefficien\w++",
    r"inaccura\w++",
    r"inconsisten\w++",
    r"prohibitive\w*+",
    r"drawbacks?",
    r"shortcomings?",
    r"bottlenecks?",
    r"(?:not|n't|cannot|never|hardly|barely|neither|no longer)\s{1,9}(?:\w{1,40}\s{1,9}){0,3}?"
    r"(?:improv|help|outperform|generali[sz]|scal|work|transfer|hold|yield|benefit|surpass|achiev"
    r"|exceed|effective|reliable|robust)\w*+",
    r"(?:not|n't|cannot|never|hardly|barely|neither|no longer)\s{1,9}(?:\w{1,40}\s{1,9}){0,3}?"
    r"(?:significant|sufficient|guarantee|captur|support|enough|suffice|reach|match|better)\w*+",
    (
        r"no (?:significant |clear |consistent |measurable"
        r" )?(?:improvement|gain|benefit|effect|difference|advantage|evidence)s?"
    ),
    r"does not",
    r"do not",
    r"did not",
    r"lack(?:s|ed|ing)?",
    r"vulnerab\w++",
    r"sensitive to",
    r"at the (?:cost|expense) of",
)

POSITIVE_CUES = (
    r"outperform\w*+",
    r"improv(?:e|es|ed|ing|ement|ements)",
    r"surpass\w*+",
    r"exceed(?:s|ed|ing)?",
    r"superior\w*+",
    r"state[- ]of[- ]the[- ]art",
    r"effective(?:ly|ness)?",
    r"success(?:ful|fully)?",
    r"succeed\w*+",
    r"robust(?:ly|ness)?",
    r"accurate(?:ly)?",
    r"efficient(?:ly)?",
    r"significant(?:ly)? (?:better|higher|faster|lower error|gains?|reduc\w++|increas\w++)",
    r"better",
    r"gains?",
    r"boost(?:s|ed|ing)?",
    r"enhanc\w++",
    r"advantag\w++",
    r"benefit(?:s|ed|ial)?",
    r"competitive",
    r"consistent(?:ly)?",
    r"demonstrat\w++",
    r"enabl(?:e|es|ed|ing)",
    r"confirm(?:s|ed|ing)?",
    r"validat(?:e|es|ed|ing)",
    r"reliabl[ey]",
    r"generali[sz]e[sd]? well",
    r"reduc(?:es|ed|ing) (?:the )?(?:error|cost|time|latency|variance|memory|number)\w*+",
    r"speed-?ups?",
    r"faster",
    r"higher (?:accuracy|performance|quality|throughput|precision|recall)",
)
