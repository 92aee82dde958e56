import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import t, { type Test } from 'tap'
import { parquetText } from '../../../src/archive/rows/parquet-cell.ts'
import { readFiles, type ReadFiles } from './read-files.ts'
import { compressed, csvText, fileBytes, ndjsonText, ownRow, parquetBytes } from './sample-rows.ts'

const ROWS = [0, 1, 2, 3, 4].map((number) => ownRow(number))

async function readOne(t: Test, name: string, bytes: Buffer | string): Promise<ReadFiles & { path: string }> {
  const path = join(t.testdir(), name)
  writeFileSync(path, bytes)
  return { ...(await readFiles([path])), path }
}

/** Refusals of a file, without its path. */
async function refusalsOf(t: Test, name: string, bytes: Buffer | string): Promise<readonly string[]> {
  const { refusals, path } = await readOne(t, name, bytes)
  return refusals.map((text) => text.replace(path, name))
}

t.test('every format and compression gives the same facts', async (t) => {
  const { facts } = await readOne(t, 'a.ndjson', ndjsonText(ROWS))
  t.equal(facts.length, 5)
  t.equal(facts[1]?.in.amountRaw, 1_000_001n)
  t.equal(facts[0]?.out.amountRaw, 2n ** 64n - 1n, 'a number of 64 bits is exact')
  for (const [format, compression, name] of [
    ['ndjson', 'gzip', 'a.ndjson.gz'],
    ['ndjson', 'zstd', 'a.ndjson.zst'],
    ['ndjson', null, 'a.jsonl'],
    ['csv', null, 'a.csv'],
    ['csv', 'gzip', 'a.csv.gz'],
    ['csv', 'zstd', 'a.csv.zst'],
    ['parquet', null, 'a.parquet'],
    ['parquet', 'gzip', 'a.parquet.gz'],
    ['parquet', 'zstd', 'a.parquet.zst']
  ] as const) {
    const read = await readOne(t, name, fileBytes(ROWS, format, compression))
    t.same([read.facts, read.refusals], [facts, []], name)
  }
  for (const [format, compression] of [
    ['csv', 'gzip'],
    ['ndjson', 'zstd'],
    ['parquet', null],
    ['parquet', 'gzip']
  ] as const) {
    const read = await readOne(t, 'named-otherwise.bin', fileBytes(ROWS, format, compression))
    t.same(read.facts, facts, `${format} ${compression} is recognized by its content`)
  }
})

t.test('a byte order mark, CRLF, quotes and line breaks in quotes are accepted', async (t) => {
  const rows = ROWS.map((row, at) => ({ name: `a, "b"\n${at}`, ...row }))
  const csv = csvText(rows)
  const { facts } = await readOne(t, 'a.csv', csv)
  t.equal(facts.length, 5)
  for (const [what, text] of [
    ['a mark', `\uFEFF${csv}`],
    ['CRLF', csv.replaceAll('\n', '\r\n')],
    ['no line break at the end', csv.trimEnd()],
    ['blank lines', csv.replace('\n', '\n\n')]
  ] as const)
    t.same((await readOne(t, 'a.csv', text)).facts, facts, what)
  const json = `\uFEFF${ndjsonText(ROWS).replaceAll('\n', '\r\n\r\n')}`
  t.same((await readOne(t, 'a.ndjson', json)).facts, facts)
})

t.test('a row that cannot be read is named by its line, and the rows around it count', async (t) => {
  const [header, ...lines] = csvText(ROWS).trimEnd().split('\n')
  const csv = [
    header,
    lines[0],
    'a"b,"',
    lines[1],
    '1,2',
    lines[2],
    `"${'x'.repeat(2 ** 20)}`,
    lines[3]
  ].join('\n')
  const read = await readOne(t, 'a.csv', csv)
  t.equal(read.facts.length, 4)
  t.equal(read.tally.rows, 7)
  t.match(read.refusals, [
    /^broken-row .*a\.csv, line 3: Invalid Opening Quote/,
    /^broken-row .*a\.csv, line 5: the row has 2 cells, and the header 14$/,
    /^long-line .*a\.csv, line 7: the line has more than 1048576 bytes$/
  ])
  const open = [header, lines[0], `"${lines[1]}`, ...lines.slice(2)].join('\n')
  const unclosed = await readOne(t, 'a.csv', open)
  t.equal(unclosed.facts.length, 4, 'rows after a quote that is never closed count')
  t.match(unclosed.refusals, [/^broken-row .*a\.csv, line 3: Quote Not Closed/])
  const json = [
    ...ndjsonText(ROWS).trimEnd().split('\n'),
    '{"a":',
    '[1]',
    `{"a":"${'x'.repeat(2 ** 20)}"}`
  ].join('\n')
  const ndjson = await readOne(t, 'a.ndjson', json)
  t.equal(ndjson.facts.length, 5)
  t.match(ndjson.refusals, [
    /^broken-row .*a\.ndjson, line 6: the line is not JSON/,
    /^broken-row .*a\.ndjson, line 7: the line is not a JSON object$/,
    /^long-line .*a\.ndjson, line 8: /
  ])
})

t.test('other separators are refused by name', async (t) => {
  for (const [separator, name] of [
    [';', 'semicolons'],
    ['\t', 'tabs'],
    ['|', 'vertical bars']
  ] as const)
    t.same(await refusalsOf(t, 'a.csv', csvText(ROWS).replaceAll(',', separator)), [
      `wrong-separator a.csv: columns are separated by ${name}; only commas are read`
    ])
})

t.test('a truncated file is named, and the rows before count', async (t) => {
  const rows = Array.from({ length: 200 }, (_, number) => ownRow(number))
  for (const compression of ['gzip', 'zstd'] as const)
    for (const format of ['csv', 'ndjson'] as const) {
      const name = `a.${format}.${compression === 'gzip' ? 'gz' : 'zst'}`
      const bytes = fileBytes(rows, format, compression)
      const { facts, refusals } = await readOne(t, name, bytes.subarray(0, -9))
      const whole = await readOne(t, name, bytes)
      t.same(facts, whole.facts.slice(0, facts.length), 'no row is cut')
      t.match(refusals, [new RegExp(`^truncated-file .*${name}: the ${compression} data ends too early`)])
      t.match(await refusalsOf(t, name, bytes.subarray(9)), [
        /^unreadable-file a\..*: the \w+ data cannot be read/
      ])
    }
})

t.test('a file that is not Parquet, is cut, or has a broken row group is named', async (t) => {
  const bytes = parquetBytes(ROWS, undefined, 2)
  t.same(await refusalsOf(t, 'a.parquet', 'PAR1'), [
    'not-parquet a.parquet: a Parquet file has at least 12 bytes'
  ])
  t.same(await refusalsOf(t, 'a.parquet', csvText(ROWS)), [
    'not-parquet a.parquet: the file does not begin with PAR1'
  ])
  t.match(await refusalsOf(t, 'a.parquet', bytes.subarray(0, -40)), [
    /^truncated-file a\.parquet: the file does not end with PAR1/
  ])
  const noMetadata = Buffer.from(bytes)
  noMetadata.fill(0xff, bytes.length - 8, bytes.length - 4)
  t.match(await refusalsOf(t, 'a.parquet', noMetadata), [
    /^not-parquet a\.parquet: its metadata cannot be read/
  ])
  const broken = Buffer.from(bytes)
  broken.fill(0xff, 4, 60)
  const { facts, refusals } = await readOne(t, 'a.parquet', broken)
  t.match(refusals, [/^unreadable-row-group .*a\.parquet, row group 0: /])
  t.equal(facts.length, 3, 'the other row groups are read')
})

t.test('a row of a Parquet file is named by row group and row', async (t) => {
  const rows = ROWS.with(3, ownRow(3, { in_amount_raw: '0' }))
  t.same(await refusalsOf(t, 'a.parquet', parquetBytes(rows, undefined, 2)), [
    'zero-amount a.parquet, row group 1, row 4: an amount is 0'
  ])
})

t.test('typed columns of Parquet give the same facts as text', async (t) => {
  const { facts } = await readOne(t, 'a.ndjson', ndjsonText(ROWS))
  const typed = (name: string): { name: string; data: unknown[]; type?: string; nullable?: boolean } => {
    const values = ROWS.map((row) => row[name] ?? null)
    if (name === 'slot') return { name, data: values.map((value) => BigInt(value as number)), type: 'INT64' }
    if (name === 'block_time')
      return { name, data: values.map((value) => new Date((value as number) * 1_000)), type: 'TIMESTAMP' }
    if (name === 'tx_index') return { name, data: values.map(Number), type: 'INT32' }
    if (name === 'ix_index') return { name, data: values.map(Number), type: 'DOUBLE' }
    return { name, data: values.map((value) => value?.toString() ?? null), type: 'STRING', nullable: true }
  }
  const columnData = Object.keys(ROWS[0]!).map(typed) as Parameters<
    typeof parquetWriteBuffer
  >[0]['columnData']
  for (const codec of ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD', 'BROTLI'] as const) {
    const compressors = { GZIP: gzipSync, ZSTD: zstdCompressSync, BROTLI: brotliCompressSync }
    const bytes = Buffer.from(parquetWriteBuffer({ columnData, codec, compressors }))
    const read = await readOne(t, 'a.parquet', bytes)
    t.same([read.facts, read.refusals], [facts, []], codec)
  }
})

t.test('Parquet values are written as text without loss', async (t) => {
  const plain = { name: 'a', type: 'INT64' } as const
  t.equal(parquetText(18_446_744_073_709_551_615n, plain), '18446744073709551615')
  t.equal(parquetText(0.1, plain), '0.1')
  t.equal(parquetText(1e300, plain), '1e+300')
  t.equal(parquetText(2 ** 60, plain), '1.152921504606847e+18', 'an exponent tells that digits are lost')
  t.equal(parquetText(NaN, plain), 'NaN')
  t.equal(parquetText(null, plain), null)
  t.equal(parquetText(['a'], plain), null)
  const decimal = { name: 'a', converted_type: 'DECIMAL', scale: 9 } as const
  t.equal(parquetText(123n, decimal), '0.000000123')
  t.equal(parquetText(-1_234_567_890n, decimal), '-1.234567890')
  t.equal(parquetText(Uint8Array.of(0xff, 0xff), { ...decimal, scale: 0 }), '-1')
  t.equal(
    parquetText(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0), { ...decimal, scale: 0 }),
    (2n ** 64n).toString()
  )
})

t.test('a path that does not exist is named, and the others are read', async (t) => {
  const directory = t.testdir({
    'a.csv': csvText(ROWS),
    'notes.txt': 'hello',
    deep: { 'b.csv': csvText(ROWS) }
  })
  const missing = join(directory, 'missing.csv')
  const { facts, refusals } = await readFiles([missing, directory])
  t.equal(facts.length, 10)
  t.match(refusals, [/^unreadable-file .*missing\.csv: ENOENT/])
})

t.test('a column that the first rows of NDJSON omit is read', async (t) => {
  const rows = ROWS.map(({ pool = null, ...row }, at) => (at === 0 ? row : { ...row, pool }))
  const { facts } = await readOne(t, 'a.ndjson', ndjsonText(rows))
  t.same(
    facts.map(({ pool }) => pool === null),
    [true, false, false, false, false]
  )
})

t.test('an empty file has no rows, and is not refused', async (t) => {
  for (const [name, compression] of [
    ['a.csv', null],
    ['a.ndjson', null],
    ['a.csv.gz', 'gzip'],
    ['a.jsonl.zst', 'zstd']
  ] as const)
    t.same(await refusalsOf(t, name, compressed(Buffer.alloc(0), compression)), [], name)
})
