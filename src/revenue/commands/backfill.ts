import { stat } from 'node:fs/promises'
import { pubkeyFromBase58 } from '../../chain/pubkey.ts'
import { BadUsage, type Invocation } from '../../kernel/cli/command.ts'
import {
  ask,
  fieldTable,
  serviceOf,
  withRefusals,
  type ServiceAccess,
  type ServiceOptions
} from '../../kernel/cli/service-command.ts'
import type { SlotRange } from '../slot-ranges.ts'
import { ImportedRows } from './imported-rows.ts'
import { isLedgerFile } from './ledger-file.ts'
import { RecordedLedger } from './recorded-rows.ts'

export interface BackfillOptions extends ServiceOptions {
  readonly since?: string | undefined
}

/**
 * Requests the history of a watched address from the archive node, or imports it from files. Resolves with 1 if a row is
 * refused.
 */
export async function backfill(invocation: Invocation<BackfillOptions>): Promise<number> {
  const { operands, options, stdout } = invocation
  const [address, ...paths] = operands
  if (address === undefined) throw new BadUsage('name the watched address')
  if (paths.length === 0 && options.since === undefined)
    throw new BadUsage('set the start of the ledger: --since')
  const access = serviceOf('revenue', invocation)
  return withRefusals(invocation, async () => {
    const path = `/v1/revenue/accounts/${encodeURIComponent(address)}`
    const show = (body: Readonly<Record<string, unknown>>): void => {
      const lines = options.json === true ? [JSON.stringify(body)] : fieldTable(body)
      for (const line of lines) stdout(line)
    }
    if (paths.length === 0) {
      const body = { since: options.since }
      show(await ask(access, { method: 'POST', path: `${path}/backfill`, body }))
      return 0
    }
    return importPaths(address, paths, { path, access, show, invocation })
  })
}

interface Import {
  readonly path: string
  readonly access: ServiceAccess
  readonly show: (body: Readonly<Record<string, unknown>>) => void
  readonly invocation: Invocation<BackfillOptions>
}

async function importPaths(
  address: string,
  paths: readonly string[],
  { path, access, show, invocation: { options, stderr, interrupted } }: Import
): Promise<number> {
  try {
    pubkeyFromBase58(address)
  } catch {
    throw new BadUsage(`${address} is not an address`)
  }
  const since = sinceSlotOf(options.since)
  const rows = new ImportedRows(
    address,
    async (batch) => ask(access, { method: 'POST', path: `${path}/archive`, body: { rows: batch } }),
    (line) => stderr(`millrace: ${line}`)
  )
  const ranges: SlotRange[] = []
  for (const name of paths) {
    const isFolder = await stat(name).then(
      (found) => found.isDirectory(),
      () => null
    )
    if (isFolder === null) throw new BadUsage(`${name} does not exist`)
    if (!isFolder && !isLedgerFile(name))
      throw new BadUsage(`${name} is no folder of recorded blocks, and no .ndjson or .csv file of the ledger`)
    ranges.push(
      ...(isFolder
        ? await ofFolder(name, address, rows, interrupted)
        : await rows.readFile(name, interrupted))
    )
  }
  await rows.flush()
  const { stored, repeated, refused, others } = rows.counts
  if (refused > 0)
    stderr(`millrace: ${refused} rows are refused, so that the history stays a gap; correct them, and repeat`)
  else if (ranges.length > 0) {
    const body = { rows: [], ranges: (await rangesOf(ranges, since, access, address)).map(rangeBody) }
    await ask(access, { method: 'POST', path: `${path}/archive`, body })
  }
  show({ address, stored, repeated, refused, of_other_addresses: others })
  return refused > 0 ? 1 : 0
}

async function ofFolder(
  name: string,
  address: string,
  rows: ImportedRows,
  signal: AbortSignal
): Promise<readonly SlotRange[]> {
  const folder = new RecordedLedger(name, address)
  for await (const block of folder.read(signal))
    for (const row of block.rows) await rows.add(row, `${name}, slot ${block.slot}`)
  return folder.ranges
}

function sinceSlotOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new BadUsage('with files, --since is a slot: every change since then is in them')
}

/** Returns the slots that files cover: with a start, all of them before the live ledger. */
async function rangesOf(
  ranges: readonly SlotRange[],
  since: number | null,
  access: ServiceAccess,
  address: string
): Promise<readonly SlotRange[]> {
  if (since === null) return ranges
  const { addresses } = await ask(access, { method: 'GET', path: `/v1/revenue/coverage?address=${address}` })
  const [{ live_from: live }] = addresses as [{ live_from: { slot: number } | null }]
  if (live === null) throw new BadUsage('the ledger of this address has not begun; retry in 30 s')
  return [{ from: since, to: Math.max(since, live.slot - 1) }]
}

const rangeBody = ({ from, to }: SlotRange) => ({ from_slot: from, to_slot: to })
