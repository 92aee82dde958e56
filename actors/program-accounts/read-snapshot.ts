import type { AccountNode } from '../../src/accounts/ports.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Snapshot } from './snapshot-differences.ts'

/** Milliseconds between two requests to a node that is behind, and how many are made. */
const BEHIND_MS = 1_000
const BEHIND_TRIES = 60

/** Reads all accounts of a program as of a slot at or after `least`. Rejects if the node stays behind. */
export async function readSnapshot(
  { node, clock }: { readonly node: Pick<AccountNode, 'programAccounts'>; readonly clock: Clock },
  program: Pubkey,
  least: number,
  end: AbortSignal
): Promise<Snapshot> {
  for (let tries = 0; ; tries++) {
    end.throwIfAborted()
    const answer = await node.programAccounts(program, {}, end)
    if (answer.slot >= least) return answer
    if (tries === BEHIND_TRIES)
      throw new Error(`the node is at slot ${answer.slot}, behind slot ${least}, which is needed`)
    await sleep(clock, BEHIND_MS, end)
  }
}
