import { sleep, type Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/telemetry/logger.ts'
import type { Storage } from '../../storage/port.ts'

/** How often the store is looked at for damage that a read has met, which takes nothing from it. */
const LOOK_MS = 250

/** Tells of each damage of a store once, until `end` aborts; never rejects. */
export async function tellOfDamage(
  storage: Pick<Storage, 'damage'>,
  { clock, logger }: { readonly clock: Clock; readonly logger: Pick<Logger, 'error'> },
  end: AbortSignal
): Promise<void> {
  const told = new Set<string>()
  while (!end.aborted) {
    for (const damage of storage.damage) {
      if (told.has(damage)) continue
      told.add(damage)
      logger.error(`the store is damaged: ${damage}`)
    }
    await sleep(clock, LOOK_MS, end)
  }
}
