import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { notShown } from '../../servers/not-run.ts'
import { readFiles } from './read-files.ts'
import { ndjsonText, ownRow } from './sample-rows.ts'

/** A Python with pyarrow. */
const PYTHON = process.env.PYTHON ?? 'python3'
const NAME = 'Parquet files of pyarrow, in each of its types and layouts, give the facts of text'

/** Writes the rows of standard input to a folder, in files of many kinds, and prints their names. */
const SCRIPT = `
import decimal, json, sys
import pyarrow as pa
import pyarrow.parquet as pq
folder = sys.argv[1]
rows = json.load(sys.stdin)
names = list(rows[0])
def column(name, kind=None, change=lambda value: value):
    return pa.array([None if row[name] is None else change(row[name]) for row in rows], kind)
text = {name: column(name, pa.string(), str) for name in names}
def table(**changed):
    return pa.table({**text, **changed})
written = []
def write(name, made, **options):
    pq.write_table(made, f"{folder}/{name}.parquet", **options)
    written.append(name)
number = dict(change=int)
write("plain", table(), use_dictionary=False)
write("dictionaries", pa.table({name: each.dictionary_encode() for name, each in text.items()}), use_dictionary=True)
write("large-text", pa.table({name: each.cast(pa.large_string()) for name, each in text.items()}))
write("bytes", table(signature=column("signature", pa.binary(), str.encode), in_mint=column("in_mint", pa.large_binary(), str.encode)))
for kind in [pa.int64(), pa.uint64(), pa.decimal128(20, 0), pa.decimal128(38, 0), pa.decimal256(60, 0)]:
    change = decimal.Decimal if "decimal" in str(kind) else int
    amounts = {name: column(name, kind, change) for name in ["in_amount_raw", "slot", "tx_index"]}
    write(f"amounts-{kind}".replace("(", "-").replace(", ", "-").replace(")", ""), table(**amounts))
wide = {name: column(name, pa.uint64(), int) for name in ["in_amount_raw", "out_amount_raw"]}
write("unsigned", table(**wide, slot=column("slot", pa.uint32(), int), tx_index=column("tx_index", pa.uint8(), int)))
write("small", table(tx_index=column("tx_index", pa.int8(), int), ix_index=column("ix_index", pa.int16(), int)))
for unit in ["s", "ms", "us", "ns"]:
    for zone in [None, "UTC"]:
        kind = pa.timestamp(unit, tz=zone)
        times = column("block_time", pa.timestamp("s", tz=zone), int).cast(kind)
        write(f"times-{unit}-{zone}", table(block_time=times), coerce_timestamps=None, version="2.6")
write("legacy-times", table(block_time=column("block_time", pa.timestamp("s"), int)), use_deprecated_int96_timestamps=True)
floats = column("ix_index", pa.float64(), float)
write("floats", table(ix_index=floats, inner_ix_index=column("inner_ix_index", pa.float32(), float)))
nested = {
    "list": pa.array([[1, 2]] * len(rows)),
    "struct": pa.array([{"slot": 5, "signature": "x"}] * len(rows)),
    "map": pa.array([[("slot", 1)]] * len(rows), pa.map_(pa.string(), pa.int64())),
    "nothing": pa.nulls(len(rows)),
}
write("nested", table(**nested))
write("row-groups", table(), row_group_size=2)
write("small-pages", table(), data_page_size=1, write_batch_size=1)
write("pages-2", table(), data_page_version="2.0", use_dictionary=False)
write("deltas", table(slot=column("slot", pa.int64(), int)), use_dictionary=False,
    column_encoding={"slot": "DELTA_BINARY_PACKED", "signature": "DELTA_BYTE_ARRAY", "venue": "DELTA_LENGTH_BYTE_ARRAY"})
for codec in ["none", "snappy", "gzip", "brotli", "zstd"]:
    write(f"codec-{codec}", table(), compression=codec)
with pq.ParquetWriter(f"{folder}/empty-groups.parquet", table().schema) as writer:
    for part in [table().slice(0, 0), table().slice(0, 2), table().slice(0, 0), table().slice(2), table().slice(0, 0)]:
        writer.write_table(part)
written.append("empty-groups")
pq.write_table(table().slice(0, 0), f"{folder}/none.parquet")
pq.write_table(table(), f"{folder}/lz4.parquet", compression="lz4")
pq.write_table(pa.table({"rows": pa.array([[row] for row in rows])}), f"{folder}/inside.parquet")
print(json.dumps(written))
`

function isInstalled(): boolean {
  try {
    execFileSync(PYTHON, ['-c', 'import pyarrow'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Rows with nulls, the largest amounts that each type holds, and places. */
const ROWS = [0, 1, 2, 3, 4].map((number) =>
  ownRow(number, {
    in_amount_raw: 2n ** 63n - 1n - BigInt(number),
    inner_ix_index: number % 2 === 0 ? null : number,
    ...(number === 3 && { pool: null, trader: null })
  })
)

if (!isInstalled())
  notShown(t, NAME, 'there is no Python with pyarrow (pip install it; PYTHON names one that has it)')
else
  t.test(NAME, async (t) => {
    const directory = t.testdir({ 'rows.ndjson': ndjsonText(ROWS), made: {} })
    const folder = join(directory, 'made')
    const input = JSON.stringify(ROWS, (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value
    )
    const said = execFileSync(PYTHON, ['-c', SCRIPT, folder], { input, encoding: 'utf8' })
    const names = JSON.parse(said) as string[]
    t.ok(names.length > 25, `${names.length} files`)
    const expected = await readFiles([join(directory, 'rows.ndjson')])
    t.equal(expected.facts.length, 5)
    for (const name of names) {
      const read = await readFiles([join(folder, `${name}.parquet`)])
      t.strictSame([read.facts, read.refusals], [expected.facts, []], name)
    }
    const none = await readFiles([join(folder, 'none.parquet')])
    t.strictSame([none.facts, none.refusals], [[], []])
    const lz4 = await readFiles([join(folder, 'lz4.parquet')])
    t.strictSame(lz4.facts, [])
    t.match(lz4.refusals, [/^unreadable-row-group .*lz4\.parquet, row group 0: .*LZ4/])
    const inside = await readFiles([join(folder, 'inside.parquet')])
    t.match(inside.refusals, [/^no-mapping .*inside\.parquet: /], 'nested columns are not read')
  })
