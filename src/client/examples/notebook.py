"""A notebook's worth of requests, with Python's standard library alone. Editors run the cells between the marks `# %%`."""

# %% The service and the key
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ.get("MILLRACE_URL", "http://127.0.0.1:8900")
KEY = os.environ["MILLRACE_KEY"]
SOL = "So11111111111111111111111111111111111111112"


def get(path, **query):
    """Requests a path. Waits and repeats while the service refuses with 429 or 503."""
    names = {name.rstrip("_"): value for name, value in query.items() if value is not None}
    url = f"{URL}{path}?{urllib.parse.urlencode(names)}"
    for attempt in range(3):
        try:
            request = urllib.request.Request(url, headers={"X-API-Key": KEY})
            with urllib.request.urlopen(request, timeout=35) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            problem = json.load(error)
            if error.code not in (429, 503) or attempt == 2:
                raise SystemExit(f"{path}: {problem['code']}: {problem['detail']}") from None
            time.sleep(min(65, int(error.headers.get("Retry-After", 2))))


def rows(path, most=1000, **query):
    """Yields the rows of a list over its pages, at most so many."""
    after = None
    while most > 0:
        page = get(path, after=after, **query)
        yield from page["data"][:most]
        most -= len(page["data"])
        after = page["nextCursor"]
        if after is None:
            return


# %% What is indexed, and how fresh it is
health = get("/v1/health")
print(f"status {health['status']}")

# %% The market of the last day
for token in get("/v1/trending", limit=5)["data"]:
    print(f"{token['symbol'] or token['mint']:>12}  {token['volume_usd'] or 0:>14,.2f} USD  {token['trades']:>7} trades")

# %% The candles of a token as columns, for a data frame: pandas.DataFrame(candles)
candles = {name: [] for name in ("ts", "open", "high", "low", "close", "volume_usd")}
for candle in get(f"/v1/tokens/{SOL}/candles", interval="1h", limit=24)["data"]:
    for name, column in candles.items():
        column.append(candle[name])
print(f"{len(candles['ts'])} hours, last close {candles['close'][-1] if candles['close'] else None}")

# %% The largest trades among the newest thousand
trades = sorted(rows(f"/v1/tokens/{SOL}/trades", limit=500), key=lambda trade: trade["amount_usd"] or 0, reverse=True)
for trade in trades[:5]:
    print(f"{trade['ts']}  {trade['event']:<4}  {trade['amount_usd'] or 0:>12,.2f} USD  {trade['venue']}  {(trade['signature'] or 'imported')[:16]}…")
print(f"{len(trades)} trades")

# %% What one of their traders holds
trader = next(trade["trader"] for trade in trades if trade["trader"] is not None)
for holding in get(f"/v1/wallets/{trader}/holdings", limit=5)["data"]:
    print(f"{trader[:8]}…  {holding['amount'] or 0:>20,.4f}  {holding['mint']}")
