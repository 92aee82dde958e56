const PROBLEM = 'application/problem+json'
/**
 * Characters of a description that are shown unfolded; a longer first paragraph is cut after a sentence. Three lines,
 * so that a list of endpoints stays scannable.
 */
const LEAD_LENGTH_MAX = 280

const identity = (parameter) => `${parameter.in}.${parameter.name}`

/**
 * Gathers the examples that OpenAPI spreads over the parameters of an operation, so that one of them fills the whole
 * form. The first one is filled in from the start.
 */
export function gatherExamples(document) {
  for (const operation of Object.values(document.paths).flatMap(Object.values)) {
    const examples = {}
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
export function splitLead(description) {
  const [first, ...others] = description.split('\n\n')
  if (first.length <= LEAD_LENGTH_MAX) return [description, '']
  const sentences = first.split(/(?<=[.!?]) (?=[A-Z`])/)
  let shown = sentences.shift()
  while (sentences.length > 0 && shown.length + sentences[0].length < LEAD_LENGTH_MAX / 2)
    shown += ` ${sentences.shift()}`
  return [[shown, ...others].join('\n\n'), sentences.join(' ')]
}

/** Changes how the library shows an operation: examples fill the form, and long texts are folded. */
export const operations = ({ React }) => {
  const { createElement: h, Fragment } = React

  const withExamples = (Parameters) =>
    function ParametersWithExamples(props) {
      const { operation, parameters, pathMethod, specActions } = props
      const examples = operation.get('x-examples')
      const fill = (example) => () => {
        for (const parameter of parameters) {
          const value = example.get(identity(parameter.toObject())) ?? parameter.getIn(['schema', 'default'])
          specActions.changeParamByIdentity(pathMethod, parameter, value === undefined ? null : String(value))
        }
      }
      return h(
        Fragment,
        null,
        examples?.size > 1 &&
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

  const withFoldedProblems = (Responses) =>
    function ResponsesWithFoldedProblems(props) {
      const { getComponent, responses } = props
      const Markdown = getComponent('Markdown', true)
      const Details = getComponent('MillraceDetails')
      const isProblem = (response) => response.hasIn?.(['content', PROBLEM])
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

  const folded = (Headers, { getComponent }) =>
    function FoldedHeaders(props) {
      const Details = getComponent('MillraceDetails')
      if (!props.headers?.size) return null
      return h(Details, { summary: `Headers: ${props.headers.size}`, content: () => h(Headers, props) })
    }

  const withFoldedText = (Markdown) =>
    function MarkdownWithFoldedText(props) {
      const [shown, rest] = splitLead(props.source ?? '')
      if (rest === '') return h(Markdown, props)
      return h(
        Fragment,
        null,
        h(Markdown, { ...props, source: shown }),
        h('details', null, h('summary', null, 'More'), h(Markdown, { ...props, source: rest }))
      )
    }

  /** Names the field of a parameter for screen readers, by the name of the parameter. */
  const labelled = (Form) =>
    function LabelledForm(props) {
      return h('label', null, h('span', { className: 'field-name' }, props.description), h(Form, props))
    }

  /**
   * Shows a path as text: the library would put a link into a button. The address of an open operation is in the URL.
   */
  const PlainPath =
    () =>
    ({ text }) =>
      h('span', null, text)

  /** Marks an operation that needs a key, with a link to the key panel. */
  const AuthMark =
    () =>
    ({ isAuthorized }) =>
      isAuthorized
        ? h('span', { className: 'auth-mark' }, 'key set')
        : h(
            'button',
            {
              type: 'button',
              className: 'auth-mark',
              onClick: () => document.querySelector('#key-input')?.focus()
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
