/** Small components that the sections share. */
export const parts = ({ React }) => {
  const { createElement: h, useState } = React

  /** A disclosure whose content is rendered when it is first opened. */
  function MillraceDetails({ summary, className, content }) {
    const [wasOpened, setWasOpened] = useState(false)
    return h(
      'details',
      { className, onToggle: (event) => event.currentTarget.open && setWasOpened(true) },
      h('summary', null, summary),
      wasOpened && content()
    )
  }

  return { components: { MillraceDetails } }
}
