"""Posting a text through one of Prefect's notification blocks (Slack, Teams, e-mail, webhook, …),
named by setting.
"""

import asyncio
import inspect
import logging

from prefect.blocks.abstract import NotificationBlock, NotificationError
from prefect.blocks.core import Block
from prefect.exceptions import PrefectException

from tasks.web.client import RequestFailure

logger = logging.getLogger(__name__)


def post(markdown: str, subject: str, block_name: str | None) -> bool:
    """Post it; whether it was.

    A post that fails is a warning: the night's work is done and the file is there.

    `block_name`: `<type>/<name>`, such as `slack-webhook/assay`; None: nothing is posted.
    """
    if block_name is None:
        return False
    try:
        block = Block.load(block_name)
        if not isinstance(block, NotificationBlock):
            logger.warning("block %s sends no notifications: name a notification block", block_name)
            return False
        with block.raise_on_failure():
            sent = block.notify(markdown, subject)
            if inspect.isawaitable(sent):
                asyncio.run(sent)
    except (ValueError, OSError, RequestFailure, NotificationError, PrefectException) as error:
        logger.warning(
            "the summary was not posted through block %s (%s)", block_name, type(error).__name__
        )
        return False
    return True
