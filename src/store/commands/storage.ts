import { stat } from 'node:fs/promises'
import { STORAGE, storageBody, type StorageBody } from '../bodies/storage.ts'
import { secondsText } from '../../kernel/http/time.ts'
import type { Config } from '../../kernel/config/config.ts'
import { maskedUrl } from '../../kernel/config/url-mask.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { systemPorts } from '../../ports.ts'
import { openStoreToRead, storeDirectory } from '../opening.ts'
import { storageReport } from '../../../storage/report/storage-report.ts'
import { openAdministration } from '../../access/commands/administration.ts'
import { Unreachable } from '../../kernel/cli/service-client.ts'
import type { ServiceOptions } from '../../kernel/cli/service-command.ts'
import type { Invocation } from '../../kernel/cli/command.ts'
import { sizeText } from '../../kernel/cli/size-text.ts'
import { tableOf } from '../../kernel/cli/table.ts'
import { partitionLines } from './partition-lines.ts'

const COLUMNS = ['kind', 'bytes', 'kept', 'since', 'growth a day'] as const
const DAY = 86_400

/**
 * Prints disk use by kind of rows and the forecast when the disk is full. Reads the store in the data folder, a snapshot
 * if a service has it open, or the service named by `--url`. Resolves with 1 if none can be read.
 */
export async function storage(invocation: Invocation<ServiceOptions>): Promise<number> {
  const { config, options, stdout, stderr } = invocation
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  try {
    const body =
      options.url === undefined
        ? await bodyOfStore(config, () =>
            complain('the store is open in another process; measuring a snapshot of it')
          )
        : await bodyOfService(config, options.url)
    for (const line of options.json === true ? [JSON.stringify(body)] : linesOf(body)) stdout(line)
    return 0
  } catch (error) {
    if (error instanceof ServiceError) complain(error.detail)
    else if (error instanceof Unreachable) complain(error.message)
    else throw error
    return 1
  }
}

async function bodyOfStore(config: Config, onSnapshot: () => void): Promise<StorageBody> {
  const directory = storeDirectory(config)
  if (config.storage === 'embedded' && (await stat(directory).catch(() => null)) === null)
    throw new Unreachable(
      `there is no store in ${directory}; set its folder with --data-dir, or the service with --url`
    )
  const store = await openStoreToRead(config, onSnapshot)
  try {
    return storageBody(await storageReport(store), systemPorts.clock.now())
  } finally {
    await store.close()
  }
}

async function bodyOfService(config: Config, url: string): Promise<StorageBody> {
  const { ask, close } = await openAdministration(config, url)
  try {
    const { status, body } = await ask({ method: 'GET', path: '/v1/admin/storage' })
    if (status !== 200) throw new Unreachable(String(body.detail))
    const read = STORAGE.safeParse(body)
    if (!read.success) throw new Unreachable(`${maskedUrl(url)} is not a Millrace service of this version`)
    return read.data
  } finally {
    await close()
  }
}

function linesOf(body: StorageBody): string[] {
  const rows = body.kinds.map((kind) => ({
    kind: kind.kind,
    bytes: sizeText(kind.bytes),
    kept: kind.kept_seconds === null ? kind.stays : `${(kind.kept_seconds / DAY).toFixed(1)} days`,
    since: kind.oldest_block_time === null ? null : secondsText(kind.oldest_block_time),
    'growth a day': kind.growth_bytes_per_day === null ? null : sizeText(kind.growth_bytes_per_day)
  }))
  return [...tableOf(COLUMNS, rows), '', ...summaryOf(body), ...partitionLines(body)]
}

function summaryOf(body: StorageBody): string[] {
  const { oldest_block_time: oldest, newest_block_time: newest, growth_bytes_per_day: growth } = body
  const blocks =
    oldest === null || newest === null
      ? 'of no blocks yet'
      : `of blocks from ${secondsText(oldest)} to ${secondsText(newest)} UTC`
  const rate =
    growth === null
      ? 'its growth is known after an hour of blocks'
      : `${sizeText(growth)} more a day, at the rate of the newest day`
  return [`${sizeText(body.bytes)} ${blocks}: ${rate}`, roomOf(body)]
}

function roomOf({
  free_bytes: free,
  days_left: days,
  full_at: fullAt,
  growth_bytes_per_day: growth
}: StorageBody): string {
  if (free === null) return 'the free space of the cluster is not known here'
  const left = `${sizeText(free)} free on its disk`
  if (growth === null) return left
  if (days === null) return `${left}, which does not fill at this rate`
  return `${left}, full in ${days} days${fullAt === null ? '' : `, at ${fullAt} UTC`}`
}
