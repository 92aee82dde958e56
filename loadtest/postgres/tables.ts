import type pg from 'pg'

/** A row of a table, by column. */
export type TableRow = Readonly<Record<string, unknown>>

/** A table of the peer: its rows, and the columns of its index, whose last one orders a page. */
export interface PeerTable {
  readonly name: string
  readonly rows: readonly TableRow[]
  readonly index: readonly string[]
}

/** Rows of one statement. */
const ROWS_A_WRITE = 300

/** Creates tables with their rows and indexes. Columns that no row has are left out. */
export async function fillTables(client: pg.Client, tables: readonly PeerTable[]): Promise<void> {
  for (const { name, rows, index } of tables) {
    const columns = Object.entries(columnsOf(rows))
    const list = columns.map(([column, type]) => `"${column}" ${type}`).join()
    await client.query(`create table ${name} (${list})`)
    const names = columns.map(([column]) => `"${column}"`).join()
    const text = `insert into ${name} select ${names} from json_populate_recordset(null::${name}, $1::json)`
    for (let from = 0; from < rows.length; from += ROWS_A_WRITE)
      await client.query(text, [JSON.stringify(rows.slice(from, from + ROWS_A_WRITE))])
    await client.query(`create index on ${name} (${index.join()})`)
    await client.query(`vacuum analyze ${name}`)
  }
}

/** Returns the type of each column: the widest one of its values. */
function columnsOf(rows: readonly TableRow[]): Readonly<Record<string, string>> {
  const types: Record<string, string> = {}
  for (const row of rows)
    for (const [column, value] of Object.entries(row)) {
      if (value === undefined) continue
      const type = value === null ? 'null' : typeOf(value)
      const known = types[column]
      if (known === undefined || known === 'null' || (known === 'bigint' && type === 'double precision'))
        types[column] = type
    }
  return Object.fromEntries(
    Object.entries(types).map(([column, type]) => [column, type === 'null' ? 'double precision' : type])
  )
}

function typeOf(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'bigint' : 'double precision'
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'object' ? 'json' : 'text'
}
