/**
 * Compares the service with the market's own record of its trades, launches, graduations, candles and curves, on each
 * storage adapter and for several seeds. Meanwhile the chain stalls, skips slots and forks, the node fails and is slow,
 * sockets are cut and the service is killed.
 *
 *     node loadtest/localnet-oracle.ts [--slots 2000] [--seeds 3] [--first 1] [--storage embedded,scylla]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { clusterEnvironment } from '../test/service/cluster.ts'
import { runOracle } from '../test/service/oracle-run.ts'
import { cqlServer, newKeyspaceName } from '../test/servers/cql.ts'
import { OwnRedis } from '../test/servers/redis.ts'
import { writeResult } from './result.ts'

const { values } = parseArgs({
  options: {
    slots: { type: 'string', default: '2000' },
    seeds: { type: 'string', default: '3' },
    first: { type: 'string', default: '1' },
    storage: { type: 'string', default: 'embedded,scylla' }
  }
})
const [slots, seeds, first] = [values.slots, values.seeds, values.first].map(Number) as [
  number,
  number,
  number
]
const runs: Record<string, unknown>[] = []
let differences = 0
for (const storage of values.storage.split(',')) {
  for (let number = first; number < first + seeds; number++) {
    const dataDir = mkdtempSync(join(tmpdir(), 'localnet-oracle-'))
    const redis = storage === 'scylla' ? await OwnRedis.start() : null
    try {
      const environment =
        redis === null ? {} : clusterEnvironment(await cqlServer(), newKeyspaceName(), redis.url)
      const run = await runOracle({
        seed: `market ${number}`,
        slots,
        dataDir,
        environment,
        stallsUntilSeen: true,
        onProgress: (line) => console.error(`${storage}, ${line}`)
      })
      differences += run.differences.length + run.chainFaults.length
      runs.push({ storage, seed: number, slots, ...run })
      console.error(JSON.stringify(runs.at(-1)))
    } finally {
      await redis?.end()
      rmSync(dataDir, { recursive: true })
    }
  }
}
await writeResult('localnet-oracle', { slots, differences, runs })
if (differences > 0) process.exitCode = 1
