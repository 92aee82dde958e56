import { stat } from 'node:fs/promises'
import { ServiceError } from '../../kernel/errors.ts'
import { systemPorts } from '../../ports.ts'
import { repairEmbeddedStore, storeDirectory } from '../opening.ts'
import type { Invocation } from '../../kernel/cli/command.ts'

/**
 * Replaces a damaged store by a new one with everything that is readable, and moves the old one aside. The service must
 * be stopped.
 *
 * A recorded source has every block, so if rows are lost the new store is filled from it. With a node, readable data
 * stays and slots with losses become gaps; `--from-source` refills the store from the node instead. Resolves with 0
 * if nothing is lost or the store is refilled, else 1.
 */
export async function repair({
  config,
  options,
  stdout,
  stderr
}: Invocation<{ readonly 'from-source'?: true | undefined }>): Promise<number> {
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  if (config.storage !== 'embedded') {
    complain('repair is for the embedded store; a cluster repairs its own files, as with `nodetool repair`')
    return 2
  }
  const directory = storeDirectory(config)
  if ((await stat(directory).catch(() => null)) === null) {
    complain(`there is no store in ${directory}; set its folder with --data-dir`)
    return 1
  }
  const startOver =
    options['from-source'] === true ? 'always' : config.source === 'recorded' ? 'when rows are lost' : 'never'
  try {
    const outcome = await repairEmbeddedStore(config, startOver, systemPorts.clock.now())
    if (outcome.kind === 'sound') {
      stdout('nothing is damaged; the store is unchanged')
      return 0
    }
    for (const reason of outcome.reasons) stdout(`damaged: ${reason}`)
    for (const { kind, slots } of outcome.losses)
      stdout(`lost: some ${kind}${slots === null ? '' : ` of slots ${slots.from} to ${slots.to}`}`)
    stdout(`the damaged store is in ${outcome.aside}`)
    if (outcome.startedOver) {
      stdout(
        'the new store has only the tenants and keys; at its next start the service reads all blocks from the source'
      )
      return 0
    }
    stdout(`${outcome.records} records are retained; candles, lists and indexes are rebuilt from them`)
    if (outcome.losses.length === 0) return 0
    for (const { from, to } of outcome.gaps) stdout(`slots ${from} to ${to} are a gap now (reason: damaged)`)
    stdout(
      'at its next start the service rereads blocks with lost rows from its node, and rebuilds the rest from stored rows; blocks that cannot be recovered stay gaps with a reason'
    )
    stdout(
      `to reread all blocks from the source, as far as it still has them, run \`npx millrace repair --from-source\``
    )
    return 1
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    complain(error.detail)
    return 1
  }
}
