"""Pictures of every page of `metaml web`, for the docs (cut below) or to look at (whole, dark and on a phone).

    python benchmarks/web_pictures.py --kb kb.db --dataset credit-approval --algorithm svm             into docs/images
    python benchmarks/web_pictures.py --kb kb.db --dataset credit-approval --algorithm svm --all DIR   all forms

`--kb` is a knowledge base with at least two sessions of `metaml tune` on the data set.
"""

import argparse
import base64
import io
import sys
import time
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402

from metaml.web.catalogue import Catalogue  # noqa: E402
from metaml.web.site import precompute  # noqa: E402
from metaml_kb.browsing.read_only import open_read_only  # noqa: E402
from tests.report.browser import Browser, find_browser  # noqa: E402
from tests.web.serving import served  # noqa: E402

IMAGES = ROOT / "docs" / "images"
WIDTH, SHORT, LONG = 1180, 1000, 1500
LONG_PAGES = ("dataset", "algorithm", "session")
QUERY = "SELECT algorithm, count(DISTINCT run_id) AS runs FROM result GROUP BY algorithm ORDER BY runs DESC"
N_COLOURS = 256
FORMS = {"light": (WIDTH, "light"), "dark": (WIDTH, "dark"), "phone": (390, "light")}


def addresses(base: object, dataset: str, algorithm: str) -> dict[str, str]:
    """Return the address of every page by its name."""
    datasets, runs, sessions = base.datasets(), base.runs(), base.sessions()  # type: ignore[attr-defined]
    key = datasets.loc[datasets["name"] == dataset, "fingerprint"].iloc[0]
    of_key = sessions["settings"].map(lambda settings: settings.get("dataset") == key)
    tuned = sessions[(sessions["kind"] == "tune") & of_key].sort_values("n_runs", ascending=False)["key"]
    own = runs[runs["session"] == tuned.iloc[0]].sort_values("status", key=lambda status: status == "ok")
    return {
        "overview": "/",
        "datasets": "/datasets",
        "dataset": f"/datasets/{key}",
        "runs": f"/runs?dataset={key}&sort=best",
        "run": f"/runs/{own['run'].iloc[-1]}",
        "algorithms": "/algorithms",
        "algorithm": f"/algorithms/{quote(algorithm)}",
        "map": "/map",
        "sessions": "/sessions",
        "session": f"/sessions/{tuned.iloc[0]}",
        "compare": f"/compare?a={tuned.iloc[0]}&b={tuned.iloc[1]}",
        "sql": f"/sql?q={quote(QUERY)}",
    }


def settle(browser: Browser, seconds: float = 60.0) -> None:
    """Wait until the page has loaded its parts."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and browser.ask("!!document.querySelector('[hx-trigger=load]')"):
        time.sleep(0.1)


def save(browser: Browser, path: Path, height: int | None) -> None:
    """Write the page into a small PNG, cut at a height if there is one."""
    picture = Image.open(io.BytesIO(base64.b64decode(browser.picture()))).convert("RGB")
    if height is not None:
        picture = picture.crop((0, 0, picture.width, min(height, picture.height)))
    # The most frequent colours are those of the page; what is between them is the edge of a letter or a line.
    common = sorted(picture.getcolors(picture.width * picture.height), reverse=True)[:N_COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette([value for _, colour in common for value in colour])
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {picture.width} x {picture.height}, {path.stat().st_size / 1000:.0f} KB", flush=True)


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--algorithm", required=True)
    parser.add_argument("--all", type=Path, default=None, metavar="DIR")
    parser.add_argument("--pages", nargs="*", default=None)
    parser.add_argument("--report", type=Path, nargs="*", default=[], help="Reports to picture, too, with --all.")
    asked = parser.parse_args()
    program = find_browser()
    if program is None:
        raise SystemExit("There is no Chromium here.")
    folder = asked.all or IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    forms = FORMS if asked.all else {"light": FORMS["light"]}
    with open_read_only(asked.kb) as base:
        catalogue = Catalogue(base, allows_sql=True)
        precompute(catalogue)
        pages = addresses(base, asked.dataset, asked.algorithm)
        with Browser(program, is_offline=False) as browser, served(catalogue) as server:
            browser.send("Emulation.setScrollbarsHidden", hidden=True)
            for name in asked.pages or pages:
                for form, (width, scheme) in forms.items():
                    browser.view(f"{server.address}{pages[name]}", width=width, scheme=scheme)
                    settle(browser)
                    height = (LONG if name in LONG_PAGES else SHORT) if asked.all is None else None
                    named = f"web-{name}.png" if asked.all is None else f"{name}-{form}.png"
                    save(browser, folder / named, height)
            for report in asked.report:
                for form, (width, scheme) in forms.items():
                    browser.view(report, width=width, scheme=scheme)
                    save(browser, folder / f"report-{report.parent.name}-{form}.png", None)


if __name__ == "__main__":
    main()
