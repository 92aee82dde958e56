import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { CommandGroup } from '../../src/kernel/cli/command.ts'
import { REVENUE_COMMANDS } from '../../src/revenue/commands.ts'
import { ENTRY_KINDS } from '../../src/revenue/entry-enums.ts'
import { ALL_GAP_REASONS } from '../../src/revenue/history-gaps.ts'
import { WATCHED_PER_TENANT_MAX } from '../../src/revenue/watched-address.ts'
import { MINTS_SHOWN } from '../../src/revenue/bodies/revenue-sums.ts'
import { QUEUE_MAX } from '../../src/ingest/block-queue.ts'
import { ROOT } from '../house/sources.ts'

const PAGE = readFileSync(join(ROOT, 'src/docs/revenue.md'), 'utf8')

/** The first cells of the table below a header cell. */
function firstCells(header: string): string[] {
  const [, table = ''] = PAGE.split(new RegExp(`^\\| ${header} +\\|.*\\n\\|[-| ]+\\n`, 'm'))
  return table
    .split('\n\n')[0]!
    .split('\n')
    .map((line) => line.split('|')[1]!.trim())
}

const codesOf = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)

t.test('the tables of the page on the ledger have every kind, reason and command', async (t) => {
  t.strictSame(firstCells('`kind`').flatMap(codesOf).sort(), [...ENTRY_KINDS].sort())
  t.strictSame(firstCells('`reason`').flatMap(codesOf).sort(), [...ALL_GAP_REASONS].sort())
  const commands = firstCells('Request below .*')
    .flatMap(codesOf)
    .filter((code) => /^[a-z]+( |$)/.test(code) && code !== 'revenue')
    .map((code) => code.split(' ')[0])
  const group = REVENUE_COMMANDS['revenue'] as CommandGroup
  t.strictSame([...new Set(commands)].sort(), Object.keys(group.verbs).sort())
})

t.test('the page on the ledger states the limits of the code', async (t) => {
  const limits = new Map(
    [...PAGE.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\| [^|]+\|$/gm)].map(([, limit, value]) => [limit, value])
  )
  t.equal(limits.get('watched addresses of a tenant'), `${WATCHED_PER_TENANT_MAX}`)
  t.equal(limits.get('mints of a list of sums'), `${MINTS_SHOWN}`)
  t.equal(limits.get('blocks that wait for the ledger'), QUEUE_MAX.toLocaleString('en-US'))
})
