import { pubkeyFromBase58, pubkeyToBase58, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { holderMintsIn, HOLDER_MINTS_PARTITION } from '../../src/holders/holder-mint.ts'
import { ListReads } from '../../src/holders/list-reads.ts'
import {
  BASE_SLOT,
  inRankKey,
  unpackCount,
  unpackSlotSums,
  type HolderSums
} from '../../src/holders/row-bytes.ts'
import type { LocalBank } from '../../src/localnet/bank/bank.ts'
import type { LocalAccount } from '../../src/localnet/chain.ts'
import type { Commitment } from '../../src/market/rows.ts'
import type { Storage } from '../../storage/port.ts'

/** A holder list, in texts of amount, address, and owner or number of accounts. */
export interface ListShape {
  readonly accounts: readonly string[]
  readonly owners: readonly string[]
  readonly sums: HolderSums | null
}

/** Returns the list of a mint as it is stored at a slot. */
export async function storedShape(
  { documents: store, holders }: Pick<Storage, 'documents' | 'holders'>,
  mint: Pubkey,
  slot: number
): Promise<ListShape> {
  const documents = holderMintsIn(store)
  const found = await documents.get(HOLDER_MINTS_PARTITION, [pubkeyToBase58(mint)])
  const [state] = await documents.hot([found!])
  const list = { mint, reading: state!.reading }
  // A reader without a cache: no block is of another fork.
  const reads = new ListReads(holders)
  const read = { ...list, slot, oldestSlot: 0, rollbacks: 0 }
  const accounts: string[] = []
  const owners: string[] = []
  for (const [kind, into] of [
    ['account-rank', accounts],
    ['owner-rank', owners]
  ] as const)
    for (let after: Uint8Array | undefined; ;) {
      const { rows, hasMore } = await reads.ranked(read, kind, { after, limit: 50 })
      for (const { key, value } of rows) {
        const { amount, address } = inRankKey(key)
        const rest = kind === 'owner-rank' ? unpackCount(value) : pubkeyToBase58(value)
        into.push(`${amount} ${pubkeyToBase58(address)} ${rest}`)
      }
      if (!hasMore) break
      after = rows.at(-1)!.key
    }
  const [stored] = await holders.at(list, 'sums', BASE_SLOT, [new Uint8Array(0)])
  const { sums } =
    (await reads.overlay(read)).sums ?? (stored == null ? { sums: null } : unpackSlotSums(stored.value))
  return { accounts, owners, sums }
}

/** Returns the chain's accounts of tokens at a commitment, the newest by default. Reads all accounts of the chain. */
export function tokenAccountsOf(bank: LocalBank, commitment: Commitment = 'processed'): LocalAccount[] {
  return Object.values(TOKEN_PROGRAM_KEYS)
    .flatMap((program) => bank.accountsOf(program, commitment))
    .filter(({ data }) => data.length === 165 || data[165] === 2)
    .filter(({ data }) => data[108] !== 0)
}

/** Returns the shape that a mint's list has by the accounts of tokens. */
export function chainShape(accounts: readonly LocalAccount[], mint: Pubkey): ListShape {
  const held = accounts
    .filter(({ data }) => samePubkey(data.subarray(0, 32), mint))
    .map(({ address, data }) => ({
      address: pubkeyToBase58(address),
      owner: pubkeyToBase58(data.slice(32, 64)),
      amount: Buffer.from(data).readBigUInt64LE(64)
    }))
    .filter(({ amount }) => amount > 0n)
  const byOwner = Map.groupBy(held, ({ owner }) => owner)
  const owners = [...byOwner].map(([owner, all]) => ({
    address: owner,
    amount: all.reduce((sum, { amount }) => sum + amount, 0n),
    rest: all.length
  }))
  const sums = {
    owners: owners.length,
    accounts: held.length,
    held: held.reduce((sum, { amount }) => sum + amount, 0n),
    squares: owners.reduce((sum, { amount }) => sum + amount * amount, 0n)
  }
  return {
    accounts: ranked(held.map(({ address, amount, owner }) => ({ address, amount, rest: owner }))),
    owners: ranked(owners),
    sums
  }
}

const ranked = (
  rows: readonly { readonly address: string; readonly amount: bigint; readonly rest: string | number }[]
): string[] =>
  rows
    .toSorted(
      (a, b) =>
        Number(b.amount - a.amount > 0n) - Number(b.amount - a.amount < 0n) ||
        Buffer.compare(pubkeyFromBase58(a.address), pubkeyFromBase58(b.address))
    )
    .map(({ address, amount, rest }) => `${amount} ${address} ${rest}`)
