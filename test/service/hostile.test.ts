import t from 'tap'
import { complaintOf, exchange } from './hostile-exchange.ts'
import { drawHostileRequest } from './hostile-requests.ts'
import { SeededRandom } from '../../loadtest/market/random.ts'
import { ADMIN_KEY, startProcess } from './service-process.ts'

const REQUESTS = 3000
const CLIENTS = 50

t.test(
  'thousands of bad requests are each refused without a fault and without a word of the inside',
  async (t) => {
    const directory = t.testdir({ nothing: {} })
    const service = await startProcess({
      dataDir: `${directory}/data`,
      recordedDir: `${directory}/nothing`,
      // A high limit, so that requests reach the code behind it.
      more: ['--rate-limit-per-minute', '1000000']
    })
    const port = Number(new URL(service.url).port)
    const seed = 20_261_121
    const statuses = new Map<number | null, number>()
    const complaints = new Set<string>()
    let next = 0
    const client = async (): Promise<void> => {
      while (next < REQUESTS) {
        const number = next++
        const request = drawHostileRequest(new SeededRandom(seed, number), ADMIN_KEY)
        const outcome = await exchange(port, request)
        const complaint = complaintOf(request, outcome)
        if (complaint !== null) complaints.add(`${request.kind} (${number}): ${complaint}`)
        if (outcome !== 'no end') statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    t.strictSame([...complaints], [])
    for (const status of [400, 401, 404, 405, 431])
      t.ok(statuses.has(status), `some were refused with ${status}`)
    t.equal((await service.get('/v1/launches')).status, 200, 'and a good request is answered')
    const faults = service.stderr.filter((line) => /"level":[56]0/.test(line))
    t.strictSame(faults, [], 'nothing of it is a fault of ours')
    t.notOk(
      service.stderr.some((line) => line.includes(ADMIN_KEY)),
      'the key is in no line of the log'
    )
    t.match(await service.end('SIGTERM'), { code: 0 })
  }
)
