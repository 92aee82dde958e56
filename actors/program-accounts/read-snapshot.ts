import type { AccountNode } from '../../src/accounts/ports.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Snapshot } from './snapshot-differences.ts'

/** Pause between requests to a node that is behind, in milliseconds, and the maximum number of requests. */
const BEHIND_MS = 1_000
const BEHIND_TRIES = 60

/** Reads all accounts of a program at a slot that is not before `leastSlot`. Rejects if the node stays behind. */
export async function readSnapshot(
  { node, clock }: { readonly node: Pick<AccountNode, 'programAccounts'>; readonly clock: Clock },
  program: Pubkey,
  leastSlot: number,
  end: AbortSignal
): Promise<Snapshot> {
  for (let tries = 0; ; tries++) {
    end.throwIfAborted()
    const answer = await node.programAccounts(program, {}, end)
    if (answer.slot >= leastSlot) return answer
    if (tries === BEHIND_TRIES)
      throw new Error(`the node is at slot ${answer.slot}, behind slot ${leastSlot}, which is needed`)
    await sleep(clock, BEHIND_MS, end)
  }
}
