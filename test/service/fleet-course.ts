import type { Test } from 'tap'
import { slotOf } from './asking.ts'
import type { ChainFleet } from './chain-fleet.ts'
import { drains } from './drains.ts'
import { haveSlot, type IndependentRecord } from './independent-record.ts'
import type { OwnLocalnet } from './own-localnet.ts'
import type { ServiceProcess } from './service-process.ts'
import { judgeSwarm, swarmUntil } from './stream-run.ts'

/** A fleet on a chain that grows, a process that indexes the chain alone, and what clients of the fleet record. */
export interface RecordedFleet {
  readonly fleet: ChainFleet
  readonly witness: ServiceProcess
  readonly chain: OwnLocalnet
  readonly record: IndependentRecord
}

/**
 * Runs a course of losses beside clients of the stream, and lets the chain halt. Checks that clients and the store have what
 * the witness has, and that every process that is left ends by SIGTERM with code 0.
 */
export async function judgeCourse(
  t: Test,
  { fleet, witness, chain, record }: RecordedFleet,
  course: () => Promise<void>
): Promise<void> {
  const heard = await swarmUntil(
    null,
    () => fleet.named('gateway'),
    async () => {
      await course()
      await record.settle(t)
      await chain.halt()
      await haveSlot([witness, ...fleet.named('')], chain.net.bank.slot('confirmed'))
    }
  )
  const lastSlot = await slotOf(witness)
  await drains(t, witness)
  const storage = await fleet.openStorage()
  await judgeSwarm(t, heard, storage)
  await record.judge(t, storage, await fleet.openWitness(), lastSlot)
  for (const service of fleet.named('')) await drains(t, service)
}
