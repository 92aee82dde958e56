import type { ChainEvent, Trade } from '../../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { isVenueProgram } from './published-accounts.ts'
import type { RawRecord } from './raw-record.ts'

/**
 * Agreement of the trader's own token accounts with the decoded amounts paid and received of a mint. `equal-with-others`:
 * equal if transfers outside venues' calls are added. `other-accounts`: a router's accounts traded for the trader. Else
 * `different`.
 */
export type TraderAgreement = 'equal' | 'equal-with-others' | 'other-accounts' | 'different'

export interface TraderChange {
  readonly user: string
  readonly mint: string
  readonly agreement: TraderAgreement
  readonly decoded: bigint
  readonly recorded: bigint
}

const SOL = 'So11111111111111111111111111111111111111112'

/**
 * Compares each trader and mint except SOL, which accounts also hold as lamports. Returns null if stack heights are
 * unknown.
 */
export function traderChanges(events: readonly ChainEvent[], raw: RawRecord): TraderChange[] | null {
  const transfers = raw.tokenTransfers()
  if (transfers === null) return null
  return tradersOf(events).map(({ user, mint, decoded }) => {
    const isOwn = (account: string): boolean => raw.ownerOf(account) === user && raw.mintOf(account) === mint
    let others = 0n
    let takesPart = false
    for (const { source, destination, amount, callers } of transfers) {
      if (!isOwn(source) && !isOwn(destination)) continue
      if (callers.some(isVenueProgram)) takesPart = true
      else others += (isOwn(destination) ? amount : 0n) - (isOwn(source) ? amount : 0n)
    }
    const recorded = raw.ownerDifference(user, mint)
    return { user, mint, decoded, recorded, agreement: agreementOf(decoded, recorded, others, takesPart) }
  })
}

function agreementOf(decoded: bigint, recorded: bigint, others: bigint, takesPart: boolean): TraderAgreement {
  if (!takesPart) return 'other-accounts'
  if (decoded === recorded) return 'equal'
  return decoded + others === recorded ? 'equal-with-others' : 'different'
}

interface TraderSum {
  readonly user: string
  readonly mint: string
  readonly decoded: bigint
}

function tradersOf(events: readonly ChainEvent[]): TraderSum[] {
  const sums = new Map<string, TraderSum>()
  const add = ({ user }: Trade, key: Uint8Array, amount: bigint): void => {
    const mint = pubkeyToBase58(key)
    if (mint === SOL) return
    const who = pubkeyToBase58(user)
    const before = sums.get(who + mint)?.decoded ?? 0n
    sums.set(who + mint, { user: who, mint, decoded: before + amount })
  }
  for (const event of events) {
    if (event.kind !== 'trade') continue
    add(event, event.inMint, -event.traderIn)
    add(event, event.outMint, event.traderOut)
  }
  return [...sums.values()]
}
