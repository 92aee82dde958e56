import type { FactList, FactStore } from '../../../storage/port.ts'

/** Returns the position of the first stored fact of a list from a position on; null if none follows. */
export async function storedPositionFrom(
  facts: Pick<FactStore, 'from'>,
  list: FactList,
  position: number
): Promise<number | null> {
  for await (const [fact] of facts.from(list, position)) return fact?.position ?? null
  return null
}
