/**
 * Writes facts.bin: a small set of the recorded mainnet transactions, with an example of every feature that featuresOf
 * distinguishes, and with their decoded events. Run by hand, where the fixtures are:
 *
 *     node test/chain/facts/select.ts
 *
 * The events are a regression record of the decoder's output. Other tests prove that they are true: they compare the decoder
 * with the fixtures' own values. Run those first, and write the facts when they pass.
 */
import { writeFileSync } from 'node:fs'
import { encodeFacts, FACTS_FILE, type FactBlock } from './encoding.ts'
import { candidates, type Candidate } from './recorded-facts.ts'

/** Maximum examples per feature: with three the file stays at 160 KB. */
const EXAMPLES = 3

const all = candidates()
const chosen = select(all)
const blocks = inOrder(chosen)
const bytes = encodeFacts(blocks)
writeFileSync(FACTS_FILE, bytes)
const features = new Set(chosen.flatMap((candidate) => [...candidate.features]))
process.stdout.write(
  `${chosen.length} of ${all.length} transactions, ${features.size} features, ${bytes.length} bytes\n`
)

/**
 * Adds transactions with the most features for their size until every feature has its examples, then drops unneeded ones.
 */
function select(from: readonly Candidate[]): Candidate[] {
  const available = new Map<string, number>()
  for (const { features } of from) for (const feature of features) count(available, feature, 1)
  const missing = new Map([...available].map(([feature, number]) => [feature, Math.min(number, EXAMPLES)]))
  const rest = new Map(from.map((candidate) => [candidate, sizeOf(candidate)]))
  const taken: Candidate[] = []
  for (;;) {
    let best: { candidate: Candidate; worth: number } | null = null
    for (const [candidate, size] of rest) {
      const shown = [...candidate.features].filter((feature) => (missing.get(feature) ?? 0) > 0).length
      if (shown / size > (best?.worth ?? 0)) best = { candidate, worth: shown / size }
    }
    if (best === null) break
    for (const feature of best.candidate.features) count(missing, feature, -1)
    rest.delete(best.candidate)
    taken.push(best.candidate)
  }
  return taken.filter(({ features }) => {
    if ([...features].some((feature) => missing.get(feature)! >= 0)) return true
    for (const feature of features) count(missing, feature, 1)
    return false
  })
}

function count(counts: Map<string, number>, feature: string, by: number): void {
  counts.set(feature, (counts.get(feature) ?? 0) + by)
}

function sizeOf({ block }: Candidate): number {
  return encodeFacts([block]).length
}

/** Sorts by slot, facts without a slot first, then by position; transactions of the recorded block form one block. */
function inOrder(candidates: readonly Candidate[]): FactBlock[] {
  const blocks = Map.groupBy(candidates, ({ block, signature }) =>
    block.parentSlot === null ? signature : String(block.slot)
  )
  return [...blocks.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, members]) => ({
      ...members[0]!.block,
      facts: members
        .flatMap(({ block }) => block.facts)
        .sort((a, b) => (a.transaction.index ?? 0) - (b.transaction.index ?? 0))
    }))
    .sort((a, b) => (a.slot ?? 0) - (b.slot ?? 0))
}
