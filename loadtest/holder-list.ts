import { TOKEN_PROGRAM_KEYS } from '../src/accounts/token-program.ts'
import { pubkeyToBase58, type Pubkey } from '../src/chain/pubkey.ts'
import { holderMintsIn, holderProgressIn, NO_LIST } from '../src/holders/holder-mint.ts'
import { wholeList } from '../src/holders/list-rows.ts'
import { mintData } from '../test/accounts/account-data.ts'
import type { FakeAccountNode } from '../test/accounts/fake-account-node.ts'
import type { MarketApp } from '../test/http/market-app.ts'

const ROWS_A_WRITE = 20_000
/** Milliseconds after which the cached owners of a list are reread. */
export const OWNERS_MS = 10_000

/** Stores the list of a token's holders at slot 10, as the service has it after reading it. */
export async function storeHolderList(
  { storage, nowMs }: Pick<MarketApp, 'storage' | 'nowMs'>,
  node: FakeAccountNode,
  count: number
): Promise<{ readonly mint: Pubkey; readonly reading: number }> {
  const mint = numberedAddress(1, 0)
  const list = { mint, reading: 1 }
  const { documents, holders } = storage
  node.put(mint, {
    owner: TOKEN_PROGRAM_KEYS['spl-token'],
    data: mintData({ supply: 10n ** 15n, decimals: 6 })
  })
  for (const rows of wholeList(balances(count), 10, ROWS_A_WRITE)) await holders.put(list, rows)
  const stored = { mint: pubkeyToBase58(mint), decimals: 6, tokenProgram: 'spl-token' as const }
  const made = await holderMintsIn(documents).insert({ ...stored, askedAtMs: nowMs })
  if (!made.ok) throw new Error('the list is stored already')
  const state = { state: 'live' as const, reading: 1, fromSlot: 10, accounts: count }
  await holderMintsIn(documents).putHot(made.stored, 1, { ...NO_LIST, ...state })
  const { save } = await holderProgressIn(documents).claim(1)
  await save({ slot: 10, oldestSlot: 10, atMs: nowMs, rollbacks: 0 })
  return list
}

function* balances(count: number) {
  for (let n = 0; n < count; n++) {
    const amount = BigInt(Math.floor(10 ** 12 / (n + 1))) + BigInt(n % 977) + 1n
    yield [numberedAddress(2, n), { owner: numberedAddress(3, n), amount }] as const
  }
}

/** Returns an address of a kind by its number, spread over the keys as addresses are. */
export function numberedAddress(kind: number, n: number): Pubkey {
  const bytes = new Uint8Array(32).fill(kind)
  new DataView(bytes.buffer).setUint32(0, Math.imul(n + 1, 2_654_435_761))
  return bytes
}
