import type { Child, Plugin, React } from './swagger.ts'

export interface DetailsProps {
  readonly summary: Child
  readonly className?: string
  readonly content: () => Child
}

/** Small components that the sections share. */
export const parts: Plugin = ({ React }) => {
  const { createElement: h, useState } = React

  /** A disclosure whose content is rendered when it is first opened. */
  function MillraceDetails({ summary, className, content }: DetailsProps) {
    const [wasOpened, setWasOpened] = useState(false)
    const onToggle = (event: Event): void => {
      if ((event.currentTarget as HTMLDetailsElement).open) setWasOpened(true)
    }
    return h('details', { className, onToggle }, h('summary', null, summary), wasOpened && content())
  }

  return { components: { MillraceDetails } }
}

/** Returns a text of the documents with its \`code\` marked up. */
export const withCode = ({ createElement: h }: React, text: string): Child[] =>
  text.split(/`([^`]*)`/).map((part, at) => (at % 2 === 0 ? part : h('code', { key: at }, part)))
