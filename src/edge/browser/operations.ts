import type { DetailsProps } from './parts.ts'
import type { Container, ImmutableMap, LibraryView, Plugin, View } from './swagger.ts'

const PROBLEM = 'application/problem+json'
/**
 * Characters of a description that are shown unfolded; a longer first paragraph is cut after a sentence. Three lines,
 * so that a list of endpoints stays scannable.
 */
const LEAD_LENGTH_MAX = 280

interface Parameter {
  readonly in: string
  readonly name: string
  examples?: Readonly<Record<string, { readonly value: unknown }>>
  example?: unknown
}

interface Operation {
  readonly parameters?: readonly Parameter[]
  'x-examples'?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const identity = (parameter: { readonly in?: unknown; readonly name?: unknown }): string =>
  `${String(parameter.in)}.${String(parameter.name)}`

/**
 * Gathers the examples that OpenAPI spreads over the parameters of an operation, so that one of them fills the whole
 * form. The first one is filled in from the start.
 */
export function gatherExamples(document: ApiDocument): ApiDocument {
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const examples: Record<string, Record<string, unknown>> = {}
    for (const parameter of operation.parameters ?? [])
      for (const [name, { value }] of Object.entries(parameter.examples ?? {}))
        (examples[name] ??= {})[identity(parameter)] = value
    const [first] = Object.values(examples)
    for (const parameter of operation.parameters ?? []) {
      delete parameter.examples
      const value = first?.[identity(parameter)]
      if (value !== undefined) parameter.example = value
    }
    operation['x-examples'] = examples
  }
  return document
}

/** Splits a long first paragraph of a description after a sentence, into [shown text, folded text]. */
export function splitLead(description: string): readonly [shown: string, folded: string] {
  const [first = '', ...others] = description.split('\n\n')
  if (first.length <= LEAD_LENGTH_MAX) return [description, '']
  const sentences = first.split(/(?<=[.!?]) (?=[A-Z`])/)
  let shown = sentences.shift()!
  while (sentences.length > 0 && shown.length + sentences[0]!.length < LEAD_LENGTH_MAX / 2)
    shown += ` ${sentences.shift()!}`
  return [[shown, ...others].join('\n\n'), sentences.join(' ')]
}

interface ParametersProps extends Container {
  readonly operation: ImmutableMap
  readonly parameters: Iterable<ImmutableMap>
  readonly pathMethod: unknown
}

interface ResponsesProps extends Container {
  readonly responses: ImmutableMap
}

/** Changes how the library shows an operation: examples fill the form, and long texts are folded. */
export const operations: Plugin = ({ React }) => {
  const { createElement: h, Fragment } = React

  const withExamples = (Parameters: View<ParametersProps>) =>
    function ParametersWithExamples(props: ParametersProps) {
      const { operation, parameters, pathMethod, specActions } = props
      const examples = operation.get('x-examples') as ImmutableMap | undefined
      const fill = (example: ImmutableMap) => () => {
        for (const parameter of parameters) {
          const value = example.get(identity(parameter.toObject())) ?? parameter.getIn(['schema', 'default'])
          const text = typeof value === 'string' ? value : JSON.stringify(value)
          specActions.changeParamByIdentity(pathMethod, parameter, value === undefined ? null : text)
        }
      }
      return h(
        Fragment,
        null,
        examples !== undefined &&
          examples.size > 1 &&
          h(
            'p',
            { className: 'row examples' },
            'Examples',
            ...examples
              .entrySeq()
              .map(([name, example]) =>
                h('button', { key: name, type: 'button', onClick: fill(example) }, name)
              )
          ),
        h(Parameters, props)
      )
    }

  const withFoldedProblems = (Responses: View<ResponsesProps>) =>
    function ResponsesWithFoldedProblems(props: ResponsesProps) {
      const { getComponent, responses } = props
      const Markdown = getComponent('Markdown', true)
      const Details = getComponent<View<DetailsProps>>('MillraceDetails')
      const isProblem = (response: ImmutableMap): boolean => response.hasIn?.(['content', PROBLEM]) === true
      const problems = responses.filter(isProblem)
      return h(
        Fragment,
        null,
        h(Responses, { ...props, responses: responses.filterNot(isProblem) }),
        h(Details, {
          className: 'problems',
          summary: `Problems: ${problems.keySeq().join(', ')}`,
          content: () =>
            h(
              'dl',
              null,
              ...problems
                .entrySeq()
                .map(([status, problem]) =>
                  h(
                    'div',
                    { key: status },
                    h('dt', null, status),
                    h('dd', null, h(Markdown, { source: problem.get('description') }))
                  )
                )
            )
        })
      )
    }

  const folded = (Headers: LibraryView, { getComponent }: Container) =>
    function FoldedHeaders(props: { readonly headers?: { readonly size: number } }) {
      const Details = getComponent<View<DetailsProps>>('MillraceDetails')
      const size = props.headers?.size ?? 0
      if (size === 0) return null
      return h(Details, { summary: `Headers: ${size}`, content: () => h(Headers, { ...props }) })
    }

  const withFoldedText = (Markdown: LibraryView) =>
    function MarkdownWithFoldedText(props: { readonly source?: string }) {
      const [shown, rest] = splitLead(props.source ?? '')
      if (rest === '') return h(Markdown, { ...props })
      return h(
        Fragment,
        null,
        h(Markdown, { ...props, source: shown }),
        h('details', null, h('summary', null, 'More'), h(Markdown, { ...props, source: rest }))
      )
    }

  /** Names the field of a parameter for screen readers, by the name of the parameter. */
  const labelled = (Form: LibraryView) =>
    function LabelledForm(props: { readonly description?: string }) {
      return h(
        'label',
        null,
        h('span', { className: 'field-name' }, props.description),
        h(Form, { ...props })
      )
    }

  /**
   * Shows a path as text: the library would put a link into a button. The address of an open operation is in the URL.
   */
  const PlainPath =
    () =>
    ({ text }: { readonly text: string }) =>
      h('span', null, text)

  /** Marks an operation that needs a key, with a link to the key panel. */
  const AuthMark =
    () =>
    ({ isAuthorized }: { readonly isAuthorized: boolean }) =>
      isAuthorized
        ? h('span', { className: 'auth-mark' }, 'key set')
        : h(
            'button',
            {
              type: 'button',
              className: 'auth-mark',
              onClick: () => document.querySelector<HTMLInputElement>('#key-input')?.focus()
            },
            'needs a key'
          )

  return {
    wrapComponents: {
      parameters: withExamples,
      responses: withFoldedProblems,
      headers: folded,
      Markdown: withFoldedText,
      JsonSchemaForm: labelled,
      DeepLink: PlainPath,
      authorizeOperationBtn: AuthMark
    }
  }
}
