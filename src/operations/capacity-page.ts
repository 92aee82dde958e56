import {
  ASSUMED,
  COEFFICIENTS,
  MAINNET,
  type Assumption,
  type Coefficient
} from '../capacity/coefficients.ts'
import { PLAN_COLUMNS, planRows } from '../capacity/commands/plan-rows.ts'
import { MEASURED, type MeasuredName } from '../capacity/measured.ts'
import { planOf, SPAN_NAMES } from '../capacity/plan.ts'
import { INPUT_NAMES, INPUTS, type InputName } from '../capacity/inputs.ts'
import { readWorkload } from '../capacity/workload.ts'
import { fleetTables } from './fleet-capacity.ts'

/** Work of the page's example; all else has its default. */
const EXAMPLE: Partial<Readonly<Record<InputName, number>>> = {
  'requests-per-second': 50,
  streams: 500,
  webhooks: 200,
  'transactions-per-day': 100_000,
  watches: 1_000,
  'holder-lists': 10,
  'holder-accounts': 1_000_000,
  'mirrored-accounts': 1_000_000,
  'rpc-per-second': 100
}

const DISK_COLUMNS = PLAN_COLUMNS.slice(0, 1 + SPAN_NAMES.length)
const OTHER_COLUMNS = ['product', ...PLAN_COLUMNS.slice(1 + SPAN_NAMES.length)]

/** Returns the page on capacity, from the coefficients of `millrace plan`. */
export function capacityText(): string {
  const reading = readWorkload(
    Object.fromEntries(Object.entries(EXAMPLE).map(([name, number]) => [name, String(number)]))
  )
  if (!reading.ok) throw new Error(reading.problems.join('\n'))
  const rows = planRows(planOf(reading.workload))
  const flags = Object.entries(EXAMPLE).map(([name, number]) => `--${name} ${number}`)
  return [
    '# Capacity',
    '',
    '<!-- Written by `node src/operations/write.ts` from the declarations in src/capacity. -->',
    '',
    'The disk, memory, cores and node requests that a service needs. `npx millrace plan` computes them for your own numbers:',
    '',
    '    npx millrace plan --trades-per-day 5000000 --watches 200 --webhooks 50 --retention-days 30',
    '',
    '## An example at the rate of mainnet',
    '',
    `Mainnet's live rate is ${text(MAINNET.transactionsPerBlock * MAINNET.blocksPerSecond)} transactions a second without votes: ${text(reading.workload['trades-per-day'])} trades a day. The service reads`,
    'blocks by JSON-RPC, retains trades for 90 days on the embedded store, and has this work in addition:',
    '',
    ...wrapped(flags).map((line) => `    ${line}`),
    '',
    ...tableOf(DISK_COLUMNS, rows),
    '',
    ...tableOf(OTHER_COLUMNS, rows),
    '',
    '- **Disk** is counted from an empty store on. Later the retention limits the rows of trades, and the replay horizon the',
    '  log of the stream. Candles, tokens and pools continue to grow. Leave a fifth free for merges of the engine, and twice the',
    '  size of the store for `millrace repair`.',
    '- **Memory** of `process` is Node, the caches (`MILLRACE_MEMORY_MB`), arriving answers of nodes, and garbage. The ranking',
    '  adds 16 bytes for each mint and minute of a day with trades.',
    '- **Cores** are a mean. One thread runs the event loop: above 0.7 of a core for requests and blocks together, use several',
    '  processes ([operations](operations.md#several-processes)).',
    '- **Node requests** of holder lists and of mirrored programs are few and large: one read of all accounts for each new list,',
    '  and one every ten minutes for each program. They are not in the table, nor are reads of accounts on request (metadata,',
    '  reserves, holdings): one to three each. The history of watched addresses is limited by `MILLRACE_REVENUE_BACKFILL_RPS`.',
    '',
    '## Fleets',
    '',
    'What loads of a [fleet](fleet.md) on a CQL cluster need, by a simulation in virtual time. Each load adds one quantity of a large',
    "service to today's load of mainnet, and the last adds all of them:",
    '',
    ...fleetTables().flatMap(([columns, rows]) => [...tableOf(columns, rows), '']),
    `- **Processes** are the fewest whose simulation keeps each of them below ${ASSUMED.loopShare.value} of a core, and at least two of each role. One of`,
    '  two `ingest` processes works; the share and the delay are its own.',
    '- **The simulation** (`src/capacity/fleet-simulation.ts`) runs one process of each role: blocks come at the pace of the chain,',
    '  with between none and twice the mean of trades, and transactions at random.',
    '- **Its precision** is a factor of two. A measured fleet of four processes (`loadtest/fleet.ts`) states the cost of each kind of',
    '  work in one phase, and the simulation is compared with a phase of twice the events and transactions',
    '  (`test/capacity/fleet-simulation.test.ts`): CPU time by role, and delays of events. The machine had other work meanwhile.',
    '- **Small blocks.** The costs of a process that follows and of a CQL node were measured with about twenty trades a block and ten',
    '  transactions a second, where little is batched. So they are upper bounds.',
    '- **Streams** are of channels that many clients have in common, with one event a second. An event for one client alone costs',
    '  several times as much.',
    '- **The first wall** is the nearest limit that more machines do not move. Below 1 ×, the load exceeds it, and needs several',
    '  services, each with some of the tenants.',
    `- **CQL nodes** have 8 TB and 8 cores, each used by half, and ${ASSUMED.replicas.value} replicas. Their CPU time is that of Cassandra. Disk is before`,
    '  compression, and all transactions are stored for as long as trades.',
    '',
    '## Precision',
    '',
    'The coefficients are measurements, most of them of one program on one machine with two cores. They were not taken on',
    'mainnet for 90 days.',
    '',
    '- **Disk** is accurate to within 50 %. A token with many trades takes less for each, one with few takes more.',
    '- **Memory** is accurate to within 50 %.',
    '- **Cores** are accurate to within a factor of two: machines and mixes of requests differ by that much.',
    '- **Node requests** are counts. They are exact for a node that answers.',
    '',
    'After a day, compare with your own service: `npx millrace storage` prints bytes and growth by kind of rows, `/metrics` has the',
    'CPU time, the memory and the requests to nodes.',
    '',
    '## Inputs',
    '',
    ...tableOf(
      ['flag', 'meaning', 'default'],
      INPUT_NAMES.map((name) => ({
        flag: `\`--${name}\``,
        meaning: INPUTS[name].meaning.split(';')[0]!,
        default: text(INPUTS[name].fallback)
      }))
    ),
    '',
    '`--source` is `rpc` or `yellowstone`, `--storage` is `embedded` or `scylla`. Figures of a cluster are those of one replica,',
    'before compression. `--json` prints all numbers unrounded.',
    '',
    '## Coefficients',
    '',
    'Each follows from results in `loadtest/results`, at the places named below. A test compares them.',
    '',
    ...tableOf(
      ['figure', 'value', 'result', 'place in the result'],
      (Object.keys(MEASURED) as MeasuredName[]).map((name) => ({
        figure: `\`${name}\``,
        value: String(MEASURED[name].value),
        result: `\`${MEASURED[name].result}.json\``,
        'place in the result': `\`${MEASURED[name].path.join(' › ')}\``
      }))
    ),
    '',
    ...tableOf(
      ['coefficient', 'value', 'unit', 'meaning', 'follows from'],
      Object.entries<Coefficient>(COEFFICIENTS).map(([name, each]) => ({
        coefficient: `\`${name}\``,
        value: rounded(each.value),
        unit: each.unit,
        meaning: each.rule === undefined ? each.meaning : `${each.meaning}: ${each.rule}`,
        'follows from': each.from.map((figure) => `\`${figure}\``).join(', ')
      }))
    ),
    '',
    'These follow from the design, not from a measurement:',
    '',
    ...tableOf(
      ['value', 'meaning', 'stated in'],
      Object.values<Assumption>(ASSUMED).map(({ value, meaning, source }) => ({
        value: String(value),
        meaning,
        'stated in': `\`${source}\``
      }))
    ),
    ''
  ].join('\n')
}

/** Formats a table of Markdown with aligned columns; null is shown as a dash. */
function tableOf(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, string | null>>[]
): readonly string[] {
  const cells = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? '–'))]
  const widths = columns.map((_, at) => Math.max(3, ...cells.map((line) => line[at]!.length)))
  const lineOf = (line: readonly string[]): string =>
    `| ${line.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
  const [heading, ...others] = cells.map(lineOf)
  return [heading!, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others]
}

/** Columns of a line of the page, after its indent. */
const LINE_MAX = 110

/** Joins the flags of a command to lines that a shell continues. */
function wrapped(flags: readonly string[]): readonly string[] {
  const lines = ['npx millrace plan']
  for (const flag of flags) {
    const last = lines.at(-1)!
    if (last.length + flag.length < LINE_MAX) lines[lines.length - 1] = `${last} ${flag}`
    else lines.push(`  ${flag}`)
  }
  return lines.map((line, at) => (at < lines.length - 1 ? `${line} \\` : line))
}

const text = (number: number): string => number.toLocaleString('en-US')
const rounded = (value: number): string => String(Number(value.toPrecision(4)))
