import t from 'tap'
import type { Client } from '../../src/client/client.ts'

/** Never called: only the compiler checks it. */
export async function reads(client: Client): Promise<void> {
  for await (const item of client.subscribe(['launches', 'trades:A'])) {
    // @ts-expect-error a gap has no data: its kind has to be checked first
    void item.data
    if (item.kind === 'launch') item.data.symbol satisfies string
    if (item.kind === 'trade') item.data.is_buy satisfies 0 | 1 | null
    if (item.kind === 'gap') item.until satisfies number | null
    // @ts-expect-error no curve comes on these channels
    if (item.kind === 'curve') return
  }
  for await (const item of client.subscribe(['price:A'])) {
    if (item.kind === 'price') item.data.price satisfies number
    // @ts-expect-error a tick has no signature
    if (item.kind === 'price') void item.data.signature
  }
  for await (const item of client.subscribe(['wallet:A'])) {
    if (item.kind === 'trade') item.data.trader satisfies string
    // @ts-expect-error only trades come on this channel
    if (item.kind === 'liquidity') return
  }
  for await (const item of client.subscribe(['webhooks']))
    if (item.kind === 'webhook') item.data.dropped satisfies number | undefined
  for await (const item of client.subscribe(['revenue'])) {
    if (item.kind === 'ledger') {
      item.data.event satisfies 'entry' | 'retracted'
      item.data.value_usd satisfies number | null
      // @ts-expect-error raw amounts are text
      item.data.delta_raw satisfies number
    }
    // @ts-expect-error only rows of the ledger come on this channel
    if (item.kind === 'transaction') return
  }
  // @ts-expect-error there is no such channel
  client.subscribe(['launch'])
}

t.test('the package exports the client', async (t) => {
  const name: string = 'millrace/client'
  const client = (await import(name)) as Record<string, unknown>
  t.strictSame(Object.keys(client).toSorted(), [
    'ApiError',
    'ConnectionError',
    'RpcError',
    'StreamError',
    'VENUES',
    'WebhookVerificationError',
    'connect',
    'createMillrace',
    'verify'
  ])
})
