import { readFileSync } from 'node:fs'
import { CQL_DATACENTER } from './cql-cluster.ts'
import { endClient, plainClient } from './plain-client.ts'

/**
 * Runs statements as cqlsh does: `cqlsh.ts HOST PORT -e STATEMENT`, or `-f FILE`. Prints the statements that a DESCRIBE
 * answers with.
 */
const [host, port, option, given] = process.argv.slice(2) as [string, string, string, string]
const text = option === '-f' ? readFileSync(given, 'utf8') : given
const client = plainClient({
  contactPoints: [`${host}:${port}`],
  port: Number(port),
  datacenter: CQL_DATACENTER
})
await client.connect()
try {
  // Statements end with a semicolon at the end of a line.
  for (const statement of text.split(/;\s*(?:\n|$)/).filter((each) => each.trim() !== '')) {
    const { rows = [] } = await client.execute(statement)
    for (const row of rows) console.log(`${String(row['create_statement'])}\n`)
  }
} finally {
  await endClient(client)
}
