import { backoffMs, jittered } from '../../machines/backoff.ts'
import { hasNoHistory, NodeError } from '../../src/node/node-fault.ts'
import { sleep, type Ports } from '../../src/ports.ts'
import type { HistoryNode } from '../../src/revenue/history-node.ts'

/** Wait before a retry, in milliseconds: public nodes ask for a pause of one to ten seconds. */
const BACKOFF = { floorMs: 500, ceilingMs: 15_000 }
/** Tries of one request, about half a minute. Then the whole step fails, and other tenants' work comes first. */
const TRIES_MAX = 7

/** Returns a node whose faults are retried with a growing wait. The last fault rejects. */
export function patient(node: HistoryNode, { clock, random }: Ports): HistoryNode {
  const retried = async <T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask()
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof NodeError) || hasNoHistory(error) || attempt === TRIES_MAX) throw error
        const { fault } = error
        const restMs = fault.kind === 'throttled' ? fault.restMs : 0
        await sleep(clock, restMs + jittered(backoffMs(BACKOFF, attempt), random()), signal)
        signal.throwIfAborted()
      }
    }
  }
  return {
    finalizedSlot: (signal) => retried(signal, () => node.finalizedSlot(signal)),
    firstSlot: (signal) => retried(signal, () => node.firstSlot(signal)),
    blockFrom: (slot, signal) => retried(signal, () => node.blockFrom(slot, signal)),
    signatures: (account, before, signal) => retried(signal, () => node.signatures(account, before, signal)),
    transaction: (listed, signal) => retried(signal, () => node.transaction(listed, signal)),
    tokenAccounts: (owner, signal) => retried(signal, () => node.tokenAccounts(owner, signal)),
    balances: (accounts, minSlot, signal) => retried(signal, () => node.balances(accounts, minSlot, signal))
  }
}
