import type { Storage } from '../../../storage/port.ts'
import { RpcAccountNode } from '../../accounts/node-client.ts'
import { pubkeyFromBase58 } from '../../chain/pubkey.ts'
import type { Config } from '../../kernel/config/config.ts'
import { sleep, systemPorts } from '../../ports.ts'
import { openStoreToRead } from '../../store/opening.ts'
import type { MirrorProgress } from '../program.ts'
import { Whitelist } from '../whitelist.ts'
import { accountDifferences } from '../account-check.ts'
import type { Invocation } from '../../kernel/cli/command.ts'

/** Timeout until a running mirror has the slot of the node's answer, and the poll interval, in milliseconds. */
const REACH_MS = 30_000
const POLL_INTERVAL_MS = 2_000

/**
 * Compares the mirrored accounts of all programs with the node, each at the slot of the node's answer; prints each
 * difference. Resolves with 1 if accounts differ, or if a mirror cannot be compared.
 */
export async function verifyAccounts({
  config,
  stdout,
  stderr
}: Pick<Invocation, 'config' | 'stdout' | 'stderr'>): Promise<number> {
  const node = new RpcAccountNode(() => config.rpcUrl, systemPorts.clock)
  const end = new AbortController().signal
  const counts = { programs: 0, accounts: 0, differences: 0, uncompared: 0 }
  try {
    const programs = await reading(config, async (storage) => new Whitelist(storage.documents).list())
    for (const {
      program: { program }
    } of programs) {
      const answer = await node.programAccounts(pubkeyFromBase58(program), {}, end)
      const at = await reached(config, program, answer.slot)
      if (at === null) {
        counts.uncompared++
        stderr(`millrace: the mirror of program ${program} has no accounts yet`)
        continue
      }
      if (at.slot !== answer.slot)
        stderr(
          `millrace: the mirror of program ${program} is at slot ${at.slot}, the node at ${answer.slot}: changes between the two slots appear as differences`
        )
      await reading(config, async (storage) => {
        for await (const line of accountDifferences(
          storage.programAccounts,
          pubkeyFromBase58(program),
          at,
          answer.accounts
        )) {
          stdout(line)
          counts.differences++
        }
      })
      counts.programs++
      counts.accounts += answer.accounts.length
    }
  } finally {
    await node.close()
  }
  stderr(
    `millrace: ${counts.accounts} accounts of ${counts.programs} programs compared, ${counts.differences} differences, ${counts.uncompared} programs not compared`
  )
  return counts.differences + counts.uncompared > 0 ? 1 : 0
}

/** Waits until the mirror of a program has a slot. Resolves with what to compare; null if the mirror has no slot. */
async function reached(
  config: Config,
  program: string,
  slot: number
): Promise<({ readonly slot: number } & Pick<MirrorProgress, 'abandoned'>) | null> {
  const untilMs = Date.now() + REACH_MS
  for (;;) {
    const status = await reading(config, async (storage) => new Whitelist(storage.documents).get(program))
    const newest = status?.progress.slot ?? null
    if (newest === null) return null
    const { oldestSlot, abandoned } = status!.progress
    if (newest >= slot && slot >= oldestSlot) return { slot, abandoned }
    if (newest > slot || Date.now() >= untilMs) return { slot: newest, abandoned }
    await sleep(systemPorts.clock, POLL_INTERVAL_MS, new AbortController().signal)
  }
}

/** Reads the store's current state: for an open embedded store, a new snapshot. */
async function reading<T>(config: Config, read: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openStoreToRead(config, () => undefined)
  try {
    return await read(storage)
  } finally {
    await storage.close()
  }
}
