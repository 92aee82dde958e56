import { execFileSync } from 'node:child_process'
import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { block, buy, key, NOON } from '../market/world.ts'
import { notShown } from '../servers/not-run.ts'
import { exportWorld, MINT, RANGE } from './export-world.ts'

/** A Python with pyarrow, pandas and DuckDB. */
const PYTHON = process.env.PYTHON ?? 'python3'
const NAME = 'pandas, pyarrow and DuckDB read each export, and their totals equal those of the rows'

/** Reads each file with each reader. Prints the totals as JSON. */
const SCRIPT = `
import json, sys
import duckdb, pandas, pyarrow.parquet
csv, ndjson, parquet = sys.argv[1:4]
def totals(frame):
    raw = frame["token_amount_raw"].map(int)
    return {
        "rows": len(frame),
        "raw": str(sum(raw)),
        "cash": float(frame["cash_amount"].sum()),
        "without_cash": int(frame["cash_mint"].isna().sum()),
        "slots": int(frame["slot"].max()),
        "signatures": int(frame["signature"].nunique()),
    }
texts = {"token_amount_raw": str, "cash_amount_raw": str, "signature": str}
found = {
    "pandas csv": totals(pandas.read_csv(csv, dtype=texts)),
    "pandas ndjson": totals(pandas.read_json(ndjson, lines=True, dtype=texts)),
    "pandas parquet": totals(pandas.read_parquet(parquet)),
    "pyarrow": totals(pyarrow.parquet.read_table(parquet).to_pandas()),
}
query = """select count(*), cast(sum(cast(token_amount_raw as hugeint)) as varchar), sum(cash_amount),
    count(*) filter (where cash_mint is null), max(slot), count(distinct signature) from """
for name, source in [
    ("duckdb csv", f"read_csv('{csv}', all_varchar=false, types={{'token_amount_raw': 'VARCHAR'}})"),
    ("duckdb ndjson", f"read_json('{ndjson}', format='newline_delimited')"),
    ("duckdb parquet", f"read_parquet('{parquet}')"),
]:
    row = duckdb.sql(query + source).fetchall()[0]
    found[name] = dict(zip(["rows", "raw", "cash", "without_cash", "slots", "signatures"], row))
kinds = {name: str(kind) for name, kind in zip(*[pyarrow.parquet.read_schema(parquet).names, pyarrow.parquet.read_schema(parquet).types])}
print(json.dumps({"totals": found, "kinds": kinds}))
`

function isInstalled(): boolean {
  try {
    execFileSync(PYTHON, ['-c', 'import duckdb, pandas, pyarrow'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

if (!isInstalled())
  notShown(
    t,
    NAME,
    'there is no Python with pyarrow, pandas and duckdb (pip install them; PYTHON names one that has them)'
  )
else {
  t.test(NAME, async (t) => {
    const { app, run, file, rows } = await exportWorld(t, 200)
    // More than one row group of Parquet, with a wallet of its own.
    for (let at = 0; at < 44; at++)
      await app.commit(
        block(
          300_000_010 + at,
          NOON + 10_000 + at,
          Array.from({ length: 250 }, (_, n) => buy(10n ** 9n + BigInt(n), 3n ** 39n, { user: key(61) }))
        )
      )
    const files = ['csv', 'ndjson', 'parquet'].map((format) => file(`trades.${format}`))
    for (const path of files) t.equal((await run(['trades', '--mint', MINT, ...RANGE, '-o', path])).code, 0)
    const listed: Record<string, unknown>[] = []
    for (let after = ''; ;) {
      const { body } = await app.get(`/v1/tokens/${MINT}/trades?order=asc&limit=1000${after}`)
      listed.push(...body.data)
      if (body.nextCursor === null) break
      after = `&after=${body.nextCursor}`
    }
    t.ok(listed.length > 11_000)
    t.equal((await rows(`/v1/wallets/${pubkeyToBase58(key(61))}/trades`)).length, 500)
    const expected = {
      rows: listed.length,
      raw: String(listed.reduce((sum, row) => sum + BigInt(row['token_amount_raw'] as string), 0n)),
      cash: listed.reduce((sum, row) => sum + ((row['cash_amount'] as number | null) ?? 0), 0),
      without_cash: listed.filter((row) => row['cash_mint'] === null).length,
      slots: Math.max(...listed.map((row) => row['slot'] as number)),
      signatures: new Set(listed.map((row) => row['signature'])).size
    }
    const said = execFileSync(PYTHON, ['-c', SCRIPT, ...files], { encoding: 'utf8', maxBuffer: 2 ** 24 })
    const { totals, kinds } = JSON.parse(said) as {
      totals: Record<string, typeof expected>
      kinds: Record<string, string>
    }
    t.equal(Object.keys(totals).length, 7)
    for (const [reader, { cash, ...found }] of Object.entries(totals)) {
      const { cash: sum, ...rest } = expected
      t.strictSame(found, rest, reader)
      t.ok(Math.abs(cash - sum) < 1e-6 * sum, `${reader}: ${cash} is ${sum}`)
    }
    t.match(kinds, {
      slot: 'int64',
      price: 'double',
      price_forming: 'bool',
      token_amount_raw: 'string',
      fees: 'string'
    })
  })
}
