import type { Caller } from '../../src/access/caller.ts'
import type { StreamChannel } from '../../src/stream/channel.ts'
import { workUsedUp, WORK_PRICES } from '../../src/kernel/work/work-units.ts'
import type { StreamDeps } from './stream-deps.ts'

/** Channels that the quotas of a key allow, and those that they refuse, with the reason. */
export interface ChargedChannels {
  readonly allowed: readonly StreamChannel[]
  readonly refused: readonly StreamChannel[]
  readonly reason: string
}

/** Charges channels to the quotas of a key's minute; each costs one call, and the work of one. */
export async function chargeChannels(
  caller: Caller,
  channels: readonly StreamChannel[],
  { limits, budget, clock }: Pick<StreamDeps, 'limits' | 'budget' | 'clock'>
): Promise<ChargedChannels> {
  if (channels.length === 0) return { allowed: [], refused: [], reason: '' }
  const work = budget.admit(caller, clock.now())
  if (!work.allowed)
    return { allowed: [], refused: channels, reason: workUsedUp(caller.workPerMinute, work.resetIn) }
  const { keyId, ratePerMinute } = caller
  const uses = await Promise.all(channels.map(async () => limits.take(keyId, ratePerMinute, clock.now())))
  const allowed = channels.filter((_, index) => uses[index]!.allowed)
  budget.charge(caller, allowed.length * WORK_PRICES.call, clock.now())
  return {
    allowed,
    refused: channels.filter((_, index) => !uses[index]!.allowed),
    reason: `this key may make ${ratePerMinute} requests a minute, one a channel; the next minute begins in ${uses[0]!.resetIn} s`
  }
}
