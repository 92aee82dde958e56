import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DIVIDED_KINDS } from '../../storage/scylla/divided-kinds.ts'
import { FACT_TABLES } from '../../storage/scylla/facts.ts'
import { recordTable } from '../../storage/scylla/record-tables.ts'
import { schemaFiles, VERSION_TABLE } from '../../storage/scylla/schema.ts'
import { ADDRESSED } from '../../storage/codec/records.ts'
import { LEDGER_KINDS, LOADS, type PartitionLoad } from './partition-loads.ts'

/** Bytes of a row besides its values, and of a cell: a measured trade of 287 bytes takes 370 with its columns. */
const ROW_BYTES = 35
const CELL_BYTES = 8
const BOUND_BYTES = 100e6
const ROOT = join(import.meta.dirname, '../..')
const PAGE = join(ROOT, 'src/docs/decisions/0008-scylla.md')

const FIXED: Readonly<Record<string, number>> = { tinyint: 1, smallint: 2, int: 4, bigint: 8 }

interface TableSchema {
  readonly partition: readonly string[]
  readonly clustering: readonly string[]
  /** Types of the columns that each row has, by name. */
  readonly columns: ReadonlyMap<string, string>
}

/** Parses a statement that makes a table. */
function tableIn(statement: string): { readonly name: string; readonly schema: TableSchema } {
  const [, name, body] = /^CREATE TABLE IF NOT EXISTS ([\w.]+) \(([\s\S]*)/.exec(statement)!
  const [columns, key] = body!.split('PRIMARY KEY (')
  const names = (text: string | undefined): string[] => text?.match(/\w+/g) ?? []
  // The key begins with one column, or with several in parentheses.
  const several = /^\(([^)]*)\)([^)]*)\)/.exec(key!)
  const [first, ...rest] = names(/^[^)]*/.exec(key!)![0])
  const types = new Map<string, string>()
  for (const column of columns!.split(',')) {
    const [columnName, type, isStatic] = column.trim().split(/\s+/)
    if (type !== undefined && isStatic === undefined) types.set(columnName!, type)
  }
  return {
    name: name!.split('.').at(-1)!,
    schema: {
      partition: several === null ? [first!] : names(several[1]),
      clustering: several === null ? rest : names(several[2]),
      columns: types
    }
  }
}

/** Returns every table that this version makes, with the columns that later files add. */
async function tables(): Promise<Map<string, TableSchema>> {
  const statements = (await schemaFiles()).flatMap((file) => file.statements)
  const made = [
    ...statements.filter((statement) => statement.startsWith('CREATE TABLE')),
    ...ADDRESSED.map((name) => recordTable('k', name)),
    ...FACT_TABLES.map((table) => `CREATE TABLE IF NOT EXISTS ${table}`),
    `CREATE TABLE IF NOT EXISTS ${VERSION_TABLE}`
  ].map(tableIn)
  const all = new Map(made.map(({ name, schema }) => [name, schema]))
  for (const statement of statements) {
    const added = /^ALTER TABLE (\w+) ADD (\w+) (\w+)( static)?$/.exec(statement)
    if (added === null || added[4] !== undefined) continue
    const { columns, ...schema } = all.get(added[1]!)!
    all.set(added[1]!, { ...schema, columns: new Map([...columns, [added[2]!, added[3]!]]) })
  }
  return all
}

/** Computes the bytes of a partition from its table's schema and a load. */
function bytesOf({ partition, clustering, columns }: TableSchema, load: PartitionLoad): number {
  const sizeOf = (column: string): number => FIXED[columns.get(column)!] ?? load.bytes?.[column] ?? 0
  const keyBytes = clustering.reduce((sum, column) => sum + sizeOf(column), 0)
  const values = [...columns.keys()].filter((column) => ![...partition, ...clustering].includes(column))
  const row = values.reduce((sum, column) => sum + CELL_BYTES + sizeOf(column), ROW_BYTES + keyBytes)
  return load.rows * row + (load.deleted ?? 0) * (ROW_BYTES + keyBytes)
}

const megabytes = (bytes: number): string => (bytes < 1e6 ? '< 1 MB' : `${Math.round(bytes / 1e6)} MB`)

t.test('every table has a load, and every load a table', async (t) => {
  t.strictSame(Object.keys(LOADS).toSorted(), [...(await tables()).keys()].toSorted())
  t.ok(Object.values(LOADS).every((loads) => loads.length > 0))
})

t.test('a partition has at most 100 MB in the stated load', async (t) => {
  for (const [table, schema] of await tables())
    for (const load of LOADS[table] ?? []) {
      for (const column of Object.keys(load.bytes ?? {}))
        t.ok(
          schema.columns.has(column) && FIXED[schema.columns.get(column)!] === undefined,
          `${table}.${column}`
        )
      const bytes = bytesOf(schema, load)
      t.ok(bytes > 0 && bytes <= BOUND_BYTES, `${table}: ${load.load}: ${megabytes(bytes)}`)
    }
})

t.test(
  'the page of decisions states each table with its partition key, its load and its bound',
  async (t) => {
    const page = readFileSync(PAGE, 'utf8')
    const stated = page.split('\n').filter((line) => line.startsWith('| `'))
    const rows = stated.map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
    )
    const expected = [...(await tables())]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([table, schema]) =>
        (LOADS[table] ?? []).map((load) => [
          `\`${table}\``,
          schema.partition.join(', '),
          [...(load.kinds ?? []).map((kind) => `\`${kind}\``), load.load].join(', '),
          megabytes(bytesOf(schema, load))
        ])
      )
    t.strictSame(rows, expected)
  }
)

t.test('every kind of documents has a load in the tables that it is in', async (t) => {
  const named = new Set<string>()
  const hot = new Set<string>()
  const histories = new Set<string>()
  for (const file of globSync('{src,actors,storage}/**/*.ts', { cwd: ROOT })) {
    if (file.startsWith('storage/test/')) continue
    const text = readFileSync(join(ROOT, file), 'utf8')
    for (const { 1: kind, index } of text.matchAll(/defineDocument\(\{\s*kind: '([^']+)'/g)) {
      named.add(kind!)
      if (/\n\s+hot: /.test(text.slice(index, text.indexOf('\n}', index)))) hot.add(kind!)
    }
    for (const [, kind] of text.matchAll(/defineHistory\(\{\s*kind: '([^']+)'/g)) histories.add(kind!)
    for (const [, kind] of text.matchAll(/new StoredProgress\([^{]*\{ kind: '([^']+)'/g)) {
      named.add(kind!)
      hot.add(kind!)
    }
  }
  t.ok(named.size > 20, [...named].join(', '))
  const kindsOf = (...of: readonly string[]): Set<string> =>
    new Set(of.flatMap((table) => LOADS[table]!.flatMap(({ kinds }) => kinds ?? [])))
  const owned = new Set(LEDGER_KINDS)
  t.strictSame(
    new Set([...named].filter((kind) => !owned.has(kind))),
    kindsOf('documents', 'document_shares')
  )
  t.strictSame(
    new Set([...hot].filter((kind) => !owned.has(kind))),
    kindsOf('document_hot', 'document_hot_shares')
  )
  t.strictSame(histories, kindsOf('histories'))
  t.strictSame(kindsOf('document_shares'), new Set(Object.keys(DIVIDED_KINDS)), 'those that are divided')
})
