import type { Fact, FactList, FactStore } from '../../../storage/port.ts'

/** Facts in plain lists. */
export class MemoryFacts implements FactStore {
  readonly #lists = new Map<FactList, Map<string, Fact>>()
  /** Called before each write; may reject. */
  beforePut: (list: FactList, facts: readonly Fact[]) => Promise<void> = async () => undefined

  async put(list: FactList, facts: readonly Fact[]): Promise<void> {
    await this.beforePut(list, facts)
    const stored = this.#of(list)
    for (const fact of facts) stored.set(`${fact.position} ${Buffer.from(fact.key).toString('hex')}`, fact)
  }

  async at(list: FactList, position: number): Promise<readonly Fact[]> {
    return this.#sorted(list).filter((fact) => fact.position === position)
  }

  async *from(list: FactList, position: number): AsyncGenerator<readonly Fact[], void> {
    const facts = this.#sorted(list).filter((fact) => fact.position >= position)
    // Facts of a position come in several answers.
    for (let at = 0; at < facts.length; at += 2) yield facts.slice(at, at + 2)
  }

  async bytes(): Promise<number> {
    return 0
  }

  async close(): Promise<void> {}

  count(list: FactList): number {
    return this.#of(list).size
  }

  #of(list: FactList): Map<string, Fact> {
    const known = this.#lists.get(list) ?? new Map<string, Fact>()
    this.#lists.set(list, known)
    return known
  }

  #sorted(list: FactList): Fact[] {
    return [...this.#of(list).values()].sort(
      (a, b) => a.position - b.position || Buffer.compare(a.key, b.key)
    )
  }
}
