import { sleep, type Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { Storage } from '../../storage/port.ts'

/** Poll interval of the list of damage, in milliseconds; the list is in memory. */
const POLL_INTERVAL_MS = 1_000

/** Logs each damage of a store once, until `end` aborts. Never rejects. */
export async function logDamage(
  storage: Pick<Storage, 'damage'>,
  { clock, logger }: { readonly clock: Clock; readonly logger: Pick<Logger, 'error'> },
  end: AbortSignal
): Promise<void> {
  const logged = new Set<string>()
  while (!end.aborted) {
    for (const damage of storage.damage) {
      if (logged.has(damage)) continue
      logged.add(damage)
      logger.error(`the store is damaged: ${damage}`)
    }
    await sleep(clock, POLL_INTERVAL_MS, end)
  }
}
