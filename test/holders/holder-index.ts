import { HolderBlocks } from '../../src/holders/holder-blocks.ts'
import { FollowedIndex } from '../followers/followed-index.ts'

/** Returns an index whose blocks a follower of holder lists can take. */
export function holderIndex(): FollowedIndex<HolderBlocks> {
  const index = new FollowedIndex(new HolderBlocks())
  index.blocks.begin()
  return index
}
