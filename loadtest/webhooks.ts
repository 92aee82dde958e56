/**
 * Measures the delivery of webhooks on an embedded store, in three parts: events and POSTs a second to receivers that answer
 * at once, against a bare undici loop that sends the same bodies with both signatures; 1,000 webhooks at the live rate with
 * and without receivers that hang, and commits beside them; the memory of an idle webhook. After it every event must have
 * come once and in order, or be counted as dropped by a receiver that hung. Takes some five minutes:
 *
 *     node loadtest/webhooks.ts [rounds of each part] [blocks a phase] [idle webhooks]
 */
import { loadavg } from 'node:os'
import { leaveServersACore } from './cores.ts'
import { writeResult } from './result.ts'
import { measureIdle } from './webhooks/idle-memory.ts'
import { measureIsolation } from './webhooks/isolation.ts'
import { measureThroughput } from './webhooks/throughput.ts'

const rounds = Number(process.argv[2] ?? 4)
const blocks = Number(process.argv[3] ?? 32)
const idle = Number(process.argv[4] ?? 10_000)

const hasCore = leaveServersACore()
const throughput = await measureThroughput(rounds + (rounds % 2) + 1, hasCore)
const { isolation, during } = await measureIsolation(rounds, blocks, hasCore, () => measureIdle(idle))
const reached = throughput.reached && isolation.reached && during.reached
await writeResult('webhooks', {
  reached,
  load_of_the_machine: loadavg()[0],
  throughput,
  isolation,
  idle: during
})
if (!reached) process.exitCode = 1
