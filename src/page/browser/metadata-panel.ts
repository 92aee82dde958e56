import { h, type JSX } from 'preact'
import type { Answer } from './api.ts'
import type { Metadata, Token } from './answers.ts'
import { Facts, Panel } from './elements.ts'
import { originsOf, Value, type Origin } from './explain.ts'

/** Characters of a value that are shown; strangers chose them. */
const VALUE_LENGTH_MAX = 120

type OriginOf = (field: string, value: unknown) => Origin

/** The facts of a mint's accounts, and those of the JSON at its URI if the service fetches it. */
export function MetadataPanel({
  answer,
  offChain
}: {
  readonly answer: Answer<Token>
  readonly offChain: Answer<Metadata> | null
}): JSX.Element {
  const { metadata } = answer.body
  const from = originsOf(answer)
  const at = { slot: metadata.slot }
  const stated = offChain?.body.off_chain ?? null
  return h(
    Panel,
    {
      title: 'Metadata',
      id: 'metadata-title',
      tools: h('span', { class: 'note' }, metadata.slot === null ? '' : `read at slot ${metadata.slot}`)
    },
    h(Facts, { rows: factsOf(metadata, (name, value) => from(`metadata.${name}`, value, at)) }),
    offChain === null || stated === null
      ? null
      : [
          h('h3', { key: 'head' }, 'As its creator states it, not verified'),
          h(Facts, {
            key: 'facts',
            rows: factsOf(stated, (name, value) => originsOf(offChain)(`off_chain.${name}`, value))
          })
        ]
  )
}

const factsOf = (values: object, originOf: OriginOf) =>
  Object.entries(values)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      const shown = text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text
      return [name, h(Value, { from: originOf(name, value) }, h('bdi', null, shown))] as const
    })
