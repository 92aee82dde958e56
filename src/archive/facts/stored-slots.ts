import { DECODER_VERSION } from '../../chain/decoder-version.ts'
import type { FactStore } from '../../../storage/port.ts'
import type { StoredSlot } from '../missing-spans.ts'
import { isDecodedBy, unpackBlock } from './block-pack.ts'

/**
 * Yields the slots from one on whose blocks are stored, decoded by this version, whether they are folded or not. Ascending,
 * some at a time. A slot comes twice if two blocks of it are stored.
 */
export async function* storedSlots(
  facts: Pick<FactStore, 'from'>,
  from: number
): AsyncGenerator<readonly StoredSlot[], void> {
  for await (const packs of facts.from('block', from))
    yield packs
      .filter((pack) => isDecodedBy(pack, DECODER_VERSION))
      .map((pack) => ({ slot: pack.position, parentSlot: () => unpackBlock(pack).block.parentSlot }))
}
