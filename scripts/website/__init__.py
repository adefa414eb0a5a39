"""The site that `scripts/docs` builds: what Sphinx needs to know, and what it does not look at.

Its sources are the pages as they stand: the tree itself is Sphinx's source folder, so a link that
works on a host of Markdown works in the site. Nothing is copied, and nothing is written beside
them.

- `conf`: Sphinx's configuration;
- `navigation`: which pages there are and in what order, since Markdown alone cannot say it;
- `reference`: a list of public names becomes the page of their docstrings;
- `undocumented`: the public names without a docstring;
- `examples`: the Python of the pages, as programs;
- `crawl`: what the built pages point at;
- `build`: all of it, as the command and the gate `docs` call it.
"""
