import { LitElement, html } from 'lit';

class Badge extends LitElement {
  render() {
    return html`<b>${this.label()}</b>`;
  }

  label() {
    return 'studio';
  }
}
customElements.define('studio-badge', Badge);
