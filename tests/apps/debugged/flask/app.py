"""Orders over HTTP, kept by SQLAlchemy. The bug: a total is only that of the last line."""
import os

from flask import Flask, jsonify
from sqlalchemy import ForeignKey, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.pool import StaticPool


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = 'purchase'
    id: Mapped[int] = mapped_column(primary_key=True)
    customer: Mapped[str]
    total: Mapped[int] = mapped_column(default=0)
    lines: Mapped[list['Line']] = relationship(back_populates='order')


class Line(Base):
    __tablename__ = 'line'
    id: Mapped[int] = mapped_column(primary_key=True)
    price: Mapped[int]
    count: Mapped[int]
    order_id: Mapped[int] = mapped_column(ForeignKey('purchase.id'))
    order: Mapped[Order] = relationship(back_populates='lines')


app = Flask(__name__)
engine = create_engine('sqlite://', poolclass=StaticPool, connect_args={'check_same_thread': False})


def price(session, number):
    order = session.get(Order, number)
    amount = 0
    for line in order.lines:
        amount = line.price * line.count  # OVERWRITES
    order.total = amount  # STORES
    session.commit()
    return order.total


@app.get('/orders/<int:number>')
def show(number):
    with Session(engine) as session:
        return jsonify(total=price(session, number))


if __name__ == '__main__':
    Base.metadata.create_all(engine)
    with Session(engine) as setup:
        lines = [Line(price=5, count=2), Line(price=3, count=1)]
        setup.add(Order(customer='Ada', lines=lines))
        setup.commit()
    app.run(port=int(os.environ['PORT']))
