"""A knowledge base as web pages: pure functions from what it holds to HTML, and a server that only reads.

`site` answers an address with a page, `server` serves it, `export` writes all pages as files. Pages import no web
library, so that an export needs none.
"""
