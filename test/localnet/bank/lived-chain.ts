import type { LocalBank } from '../../../src/localnet/bank/bank.ts'
import type { LocalAccount, LocalBlock } from '../../../src/localnet/chain.ts'
import type { VirtualClock } from '../../virtual-time.ts'
import { virtualClock } from '../../virtual-time.ts'
import { included, marketAccount } from './market-entries.ts'
import { blockAt, signed, SOL, transfer, wallet } from './sending.ts'

/** A clock that knows the time of each slot. */
export interface SlotClock extends VirtualClock {
  setSlot(slot: number): void
}

export function slotClock(): SlotClock {
  let now = 0
  const setSlot = (slot: number): void => void (now = slot * 400)
  return Object.assign(virtualClock(), { now: () => now, setSlot })
}

/** Number of wallets that the series pays to, in turn. */
const PAYEES = 7

/**
 * Produces slots up to the last one. The content of a slot is always identical. The first one funds a wallet. Each later one
 * has a transfer of that wallet and a market transaction, which writes an account and a note.
 */
export async function liveThrough(bank: LocalBank, clock: SlotClock, last: number): Promise<void> {
  const owner = wallet(1)
  bank.onSlot((slot, _, include, keep) => {
    include(included(slot), [{ ...marketAccount(slot % 50), lamports: BigInt(slot + 1) }])
    keep('newest', Buffer.from(String(slot)))
  })
  for (let slot = bank.slot('processed') + 1; slot <= last; slot++) {
    clock.setSlot(slot)
    if (slot === 1) bank.airdrop(owner.publicKey.toBytes(), 1_000n * SOL)
    else {
      const to = wallet(10 + (slot % PAYEES)).publicKey
      bank.send(signed(bank, [transfer(owner, to, SOL / 100n + BigInt(slot))], [owner]), {
        skipPreflight: false
      })
    }
    await bank.produceSlot()
  }
}

/** Returns all content of such a chain. */
export function contentsOf(bank: LocalBank): {
  readonly blocks: readonly LocalBlock[]
  readonly accounts: readonly (LocalAccount | null)[]
  readonly note: string
} {
  const first = bank.firstSlot
  const addresses = [
    wallet(1).publicKey.toBytes(),
    ...Array.from({ length: PAYEES }, (_, i) => wallet(10 + i).publicKey.toBytes()),
    ...Array.from({ length: 50 }, (_, i) => marketAccount(i).address)
  ]
  return {
    blocks: Array.from({ length: bank.slot('processed') - first + 1 }, (_, i) => blockAt(bank, first + i)),
    accounts: addresses.map((address) => bank.account(address)),
    note: Buffer.from(bank.note('newest') ?? []).toString()
  }
}
