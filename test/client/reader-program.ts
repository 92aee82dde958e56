/** A program of a user: reads the stream and REST of a service, and prints its findings and its platform's version. */
export const READER = `
import { connect, createMillrace } from 'millrace/client'

const [url, key, mint] = process.argv.slice(2)
const WebSocket = globalThis.WebSocket ?? (await import('ws')).default
const client = connect({ url, key, WebSocket })
const kinds = []
for await (const { kind } of client.subscribe(['trades:' + mint])) {
  kinds.push(kind)
  if (kinds.length === 3) break
}
const millrace = createMillrace({ url, key, WebSocket })
const rows = await millrace.tokens.trades(mint, { limit: 2 }).take(5)
const cursors = new Set(rows.map(({ cursor }) => cursor))
const { code } = await millrace.tokens.get('no-address').catch((error) => error)
const version = globalThis.Bun?.version ?? globalThis.Deno?.version.deno ?? process.version
console.log(JSON.stringify({ version, kinds, trades: cursors.size, code }))
`

/** Values that the reader prints beside the version. */
export const READ = { kinds: ['trade', 'trade', 'trade'], trades: 5, code: 'invalid_address' }
