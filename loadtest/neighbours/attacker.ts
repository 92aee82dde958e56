/**
 * The greedy tenant, in its own process. Arguments: the service's URL, the tenant's key, the name of the attack, and `spare` if
 * a CQL server runs on its core. The message
 * `end` ends it; it then reports the number of each outcome.
 */
import { attack, ATTACKS } from './attacks.ts'
import { chainFiguresOf, targetOf } from './target.ts'

const [url, key, name, isBesideStore] = process.argv.slice(2) as [string, string, string, string]
const end = new AbortController()
const chosen = ATTACKS.find((each) => each.name === name)!
const figures = await chainFiguresOf(url, key)
process.once('message', () => end.abort())
process.send!('begun')
const outcomes = await attack(
  chosen,
  targetOf(url, key, { figures, signal: end.signal, sparesCore: isBesideStore === 'spare' })
)
process.send!(outcomes, () => process.exit())
