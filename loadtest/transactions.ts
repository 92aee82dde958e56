/**
 * Measures transactions against a node in another process that takes batches, in five parts:
 *
 * 1. the lateness of rebroadcasts of 10,000 transactions tracked at once, and the CPU time and memory that they take;
 * 2. sends a second, verified and stored, against a bare Fastify route that verifies the signature and forwards;
 * 3. the time from a POST to the node's receipt, against sending to the node directly;
 * 4. 64 sends in one request against 64 requests;
 * 5. the cost of ingest for each block.
 *
 * At the end no transaction may be lost, or have been sent twice at once. Takes about four minutes. With `--cql` only sends
 * a second are measured, with a CQL node on this machine as the store:
 *
 *     node loadtest/transactions.ts [--small] [--cql] [--help]
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { CqlCluster } from '../test/servers/cql-cluster.ts'
import { leaveServersACore } from './cores.ts'
import { startMeasured } from './measured-process.ts'
import { reported, writeResult } from './result.ts'
import { measureArrivals } from './transactions/arrivals.ts'
import { measureBatches } from './transactions/batches.ts'
import { measureRebroadcasts } from './transactions/rebroadcasts.ts'
import { measureSends } from './transactions/sends.ts'
import { measureTaps } from './transactions/taps.ts'
import { askNode } from './transactions/receipts.ts'
import { startSending } from './transactions/service.ts'

const HELP = `Usage: node loadtest/transactions.ts [--small] [--cql]

  --small   a fifth of the transactions or less, printed and not saved
  --cql     sends a second on a CQL node
`
const FULL = { tracked: 10_000, seconds: 30, rounds: 3, sends: 6_000, arrivals: 1_500, batches: 200 }
const SMALL = { tracked: 2_000, seconds: 4, rounds: 1, sends: 1_500, arrivals: 200, batches: 50 }
/** A tenant may have 2,000 tracked. */
const TENANTS = 5

const { values } = parseArgs({
  options: { small: { type: 'boolean' }, cql: { type: 'boolean' }, help: { type: 'boolean' } }
})
if (values.help === true) process.stdout.write(HELP)
else if (values.cql === true) await measureCql(values.small === true)
else await measureAll(values.small === true)

async function measureAll(isSmall: boolean): Promise<void> {
  const size = isSmall ? SMALL : FULL
  const hasCore = leaveServersACore()
  const load = [loadavg()[0]!]
  const taps = reported('taps', measureTaps(size.tracked))
  const rebroadcasts = reported(
    'rebroadcasts',
    await measureRebroadcasts(size.tracked, size.seconds, hasCore)
  )
  const node = await startMeasured('transactions/node-process.ts', [])
  const batches = reported('batches', await measureBatches(node, size.batches))
  const service = await startSending(node.url, TENANTS, hasCore)
  try {
    const sends = reported('sends', await measureSends(service, node, { ...size, hasCore }))
    await askNode(node, 'forget')
    const arrivals = reported('arrivals', await measureArrivals(service, node, size.arrivals))
    const reached = rebroadcasts.reached && sends.reached && arrivals.reached
    load.push(loadavg()[0]!)
    const figures = { reached, load_of_the_machine: load, rebroadcasts, sends, arrivals, batches, taps }
    if (isSmall) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
    else await writeResult('transactions', figures)
    if (!reached) process.exitCode = 1
  } finally {
    await service.close()
    await node.end()
  }
}

/** The store's node shares the CPU with all other processes, unlike that of an operator. */
async function measureCql(isSmall: boolean): Promise<void> {
  const cluster = await CqlCluster.start({ fast: true })
  const node = await startMeasured('transactions/node-process.ts', [])
  const service = await startSending(node.url, TENANTS, false, {
    MILLRACE_STORAGE: 'scylla',
    MILLRACE_SCYLLA_CONTACT_POINTS: cluster.contactPoints.join(','),
    MILLRACE_SCYLLA_PORT: String(cluster.port),
    MILLRACE_SCYLLA_DATACENTER: cluster.datacenter
  })
  try {
    const size = isSmall ? SMALL : FULL
    const sends = reported('sends', await measureSends(service, node, { ...size, hasCore: false }))
    if (isSmall) process.stdout.write(`${JSON.stringify(sends, null, 2)}\n`)
    else await writeResult('transactions-cql', sends)
  } finally {
    await service.close()
    await node.end()
    await cluster.end()
  }
}
