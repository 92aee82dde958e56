/**
 * Measures the delivery of webhooks on an embedded store, in three parts.
 *
 * `throughput`: events and POSTs a second to receivers that answer at once, against a bare undici loop that sends equal
 * bodies with both signatures. `isolation`: 1,000 webhooks at the live rate with and without receivers that hang, with
 * concurrent commits. At the end every event must have come once and in order, or be counted as dropped by a receiver that
 * hung. `idle`: the memory of an idle webhook.
 *
 * Each takes two to three minutes, and replaces its own figures in the result:
 *
 *     node loadtest/webhooks.ts throughput [rounds]
 *     node loadtest/webhooks.ts isolation [rounds] [blocks a round]
 *     node loadtest/webhooks.ts idle [webhooks]
 */
import { loadavg } from 'node:os'
import { leaveServersACore } from './cores.ts'
import { readResult, reported, writeResult } from './result.ts'
import { measureIdle } from './webhooks/idle-memory.ts'
import { measureIsolation } from './webhooks/isolation.ts'
import { measureThroughput } from './webhooks/throughput.ts'

const [part = '', first, second] = process.argv.slice(2)
const numberOr = (text: string | undefined, usual: number): number =>
  text === undefined ? usual : Number(text)
const PARTS: Readonly<Record<string, (hasCore: boolean) => Promise<{ readonly reached: boolean }>>> = {
  throughput: (hasCore) => measureThroughput(numberOr(first, 5), hasCore),
  isolation: (hasCore) => measureIsolation(numberOr(first, 3), numberOr(second, 32), hasCore),
  idle: () => measureIdle(numberOr(first, 10_000))
}
const measure = PARTS[part]
if (measure === undefined) throw new Error(`the part must be one of ${Object.keys(PARTS).join(', ')}`)

const load = loadavg()[0]
const figures = reported(part, { load_of_the_machine_before: load, ...(await measure(leaveServersACore())) })
const others = readResult('webhooks', Object.keys(PARTS))
await writeResult('webhooks', { command: 'node loadtest/webhooks.ts PART', ...others, [part]: figures })
if (!figures.reached) process.exitCode = 1
