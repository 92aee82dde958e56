import fc from 'fast-check'
import t from 'tap'
import { coefficient } from '../../src/capacity/coefficients.ts'
import { planOf, SPAN_NAMES, type Plan, type ProductPlan } from '../../src/capacity/plan.ts'
import { INPUT_NAMES, INPUTS, PLAN_SOURCES, PLAN_STORES, type InputName } from '../../src/capacity/inputs.ts'
import { readWorkload, type Workload } from '../../src/capacity/workload.ts'
import { runCommand } from '../cli/run-command.ts'
import { randomRuns } from '../random-runs.ts'

const DAY = 86_400

function workloadOf(flags: Readonly<Record<string, string>>): Workload {
  const reading = readWorkload(flags)
  if (!reading.ok) throw new Error(reading.problems.join('\n'))
  return reading.workload
}

const productOf = ({ products }: Plan, name: string): ProductPlan =>
  products.find(({ product }) => product === name)!

const near = (actual: number, expected: number): boolean => Math.abs(actual - expected) <= expected * 1e-9

t.test(
  'disk of trades grows with them until the retention, and with lasting records afterwards',
  async (t) => {
    const flags = { 'trades-per-day': '1000000', 'retention-days': '30', 'replay-hours': '12' }
    const { products } = { products: planOf(workloadOf(flags)) }
    const { diskBytes } = productOf(products, 'ingest')
    const [rows, lasting] = [coefficient('rowBytes'), coefficient('lastingBytes')]
    t.ok(near(diskBytes.day, 1e6 * (rows + lasting)))
    t.ok(near(diskBytes.hour, (1e6 * (rows + lasting)) / 24))
    t.ok(near(diskBytes['90 days'], 1e6 * (30 * rows + 90 * lasting)), 'rows of 30 days, all lasting records')
    const log = productOf(products, 'stream').diskBytes
    t.ok(near(log.day, 1e6 * coefficient('logBytes') * 0.5), 'the log of twelve hours')
    t.equal(log['90 days'], log.day)
  }
)

t.test('watches, webhooks and streams take what their work takes', async (t) => {
  const plan = planOf(
    workloadOf({
      ...{ watches: '200', 'watch-entries-per-day': '864' },
      ...{ webhooks: '100', 'webhook-events-per-second': '64' },
      ...{ streams: '1000', 'stream-events-per-second': '3' }
    })
  )
  // 200 addresses with 864 entries a day have two entries a second.
  const search = (42e6 / DAY / coefficient('tradesPerTransaction')) * coefficient('watchMs')
  t.ok(near(productOf(plan, 'revenue').cores, (2 * coefficient('entryMs') + search) / 1_000))
  t.ok(near(productOf(plan, 'revenue').diskBytes.day, 2 * DAY * coefficient('entryBytes')))
  // 64 events a second could come in one POST, but are gathered for half a second at most.
  t.ok(near(productOf(plan, 'webhooks').cores, (100 * 2 * coefficient('postMicros')) / 1e6))
  t.ok(near(productOf(plan, 'stream').cores, (3_000 * coefficient('deliveryMicros')) / 1e6))
  t.ok(near(productOf(plan, 'stream').memoryBytes, 1_000 * coefficient('connectionBytes')))
})

t.test('a chain without watched addresses is not searched', async (t) => {
  t.equal(productOf(planOf(workloadOf({})), 'revenue').cores, 0)
})

const WORKLOADS = fc.record({
  ...(Object.fromEntries(
    INPUT_NAMES.map((name) => [
      name,
      fc.double({ min: INPUTS[name].min, max: INPUTS[name].max, noNaN: true })
    ])
  ) as Readonly<Record<InputName, fc.Arbitrary<number>>>),
  source: fc.constantFrom(...PLAN_SOURCES),
  storage: fc.constantFrom(...PLAN_STORES)
})

/** All numbers of a plan's line, in one order. */
const numbersOf = ({ diskBytes, memoryBytes, cores, nodeRequests }: ProductPlan): readonly number[] => [
  memoryBytes,
  cores,
  ...SPAN_NAMES.flatMap((span) => [diskBytes[span], nodeRequests[span]])
]

t.test('more work never takes less, later spans never less, and the total is the sum', async (t) => {
  fc.assert(
    fc.property(
      WORKLOADS,
      fc.constantFrom(...INPUT_NAMES),
      fc.double({ min: 1, max: 10, noNaN: true }),
      (workload, name, factor) => {
        const plan = planOf(workload)
        const more = planOf({ ...workload, [name]: workload[name] * factor })
        const pairs = numbersOf(plan.total).map((number, at) => [number, numbersOf(more.total)[at]!] as const)
        const isSum = numbersOf(plan.total).every((number, at) => {
          const sum = plan.products.reduce((all, product) => all + numbersOf(product)[at]!, 0)
          return Math.abs(number - sum) <= Math.abs(sum) * 1e-9
        })
        const isOrdered = plan.products.every(
          ({ diskBytes }) => diskBytes.hour <= diskBytes.day && diskBytes.day <= diskBytes['90 days']
        )
        return isSum && isOrdered && pairs.every(([less, greater]) => greater >= less * (1 - 1e-9))
      }
    ),
    randomRuns(300)
  )
  t.pass('for random workloads')
})

t.test('the command prints a line for each product and their total, or one object', async (t) => {
  const { code, lines, stderr } = await runCommand(['plan', '--watches', '10', '--webhooks', '5'])
  t.strictSame([code, stderr], [0, ''])
  t.match(lines[0], /^product +disk: hour +disk: day +disk: 90 days +memory +cores +node requests: hour/)
  const products = planOf(workloadOf({})).products.map(({ product }) => product)
  t.strictSame(
    lines.slice(1, 2 + products.length).map((line) => line.split(' ')[0]),
    [...products, 'total']
  )
  const json = await runCommand(['plan', '--watches', '10', '--webhooks', '5', '--json'])
  const [row] = json.rows()
  const workload = workloadOf({ watches: '10', webhooks: '5' })
  t.strictSame(row, JSON.parse(JSON.stringify({ workload, ...planOf(workload) })))
})

t.test('each flag refuses what is no number within its limits, by its name', async (t) => {
  for (const name of INPUT_NAMES) {
    const { min, max } = INPUTS[name]
    for (const value of ['', 'many', '1e3', String(max * 10), ...(min > 0 ? ['0'] : [])]) {
      const { code, stderr, lines } = await runCommand(['plan', `--${name}=${value}`])
      t.strictSame([code, lines], [2, []], `${name} ${value}`)
      t.equal(
        stderr.split('\n')[0],
        `millrace: --${name} takes a number from ${min} to ${max}, not ${JSON.stringify(value)}`
      )
    }
  }
  for (const name of ['source', 'storage']) {
    const { code, stderr } = await runCommand(['plan', `--${name}=tape`])
    t.equal(code, 2)
    t.match(stderr, new RegExp(`--${name} takes \\w+ or \\w+, not "tape"`))
  }
  const both = await runCommand(['plan', '--watches=x', '--streams=y'])
  t.match(both.stderr, /--streams takes[^]*--watches takes/, 'all problems at once')
})
