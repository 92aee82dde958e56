/** Maximum addresses whose ledgers are read or changed at once: other users of the store wait for no more. */
const AT_ONCE = 16

/**
 * Works on each item, several at once. Resolves with the results in the order of the items. Rejects with the first error.
 */
export async function inChunks<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let from = 0; from < items.length; from += AT_ONCE)
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(async (item) => work(item)))))
  return results
}
